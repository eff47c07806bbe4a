// Keys: one listener for the whole page. Single letters can be switched off (for people who dictate).

import { useEffect } from 'preact/hooks'
import { go } from '../app/router.ts'
import { store } from '../app/store.ts'
import { screens } from '../screens.ts'

/** Which of the shell's dialogs is open. */
export const opened = store<'palette' | 'keys' | 'menu' | null>(null)

const SAVED = 'till.single-keys'

export function singleKeys(): boolean {
  try {
    return localStorage.getItem(SAVED) !== 'off'
  } catch {
    return true
  }
}

export function setSingleKeys(on: boolean): void {
  try {
    localStorage.setItem(SAVED, on ? 'on' : 'off')
  } catch {
    // Chosen again next time.
  }
}

/** After `g` the next key goes somewhere, for this long. */
const GO_MS = 1_500
let goUntil = 0

const isTyping = (target: EventTarget | null) => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName))

/** Rows that open, as links: `j` and `k` move the focus among them. */
function move(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLAnchorElement>('[data-row] a.cover')]
  const at = rows.indexOf(document.activeElement as HTMLAnchorElement)
  rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by))]?.focus()
}

function find(): void {
  const field = document.querySelector<HTMLInputElement>('main [data-find]')
  if (field) field.focus()
  else opened.set('palette')
}

function pressed(event: KeyboardEvent): void {
  if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
    event.preventDefault()
    return opened.set('palette')
  }
  if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target) || document.querySelector('dialog[open]') || !singleKeys()) return
  if (event.timeStamp < goUntil) {
    goUntil = 0
    const screen = screens.find((one) => one.menu?.key === event.key)
    if (screen) {
      event.preventDefault()
      go(screen.path)
    }
    return
  }
  const action: Record<string, () => void> = {
    '/': find,
    '?': () => opened.set('keys'),
    j: () => move(1),
    k: () => move(-1),
    g: () => {
      goUntil = event.timeStamp + GO_MS
    },
    n: () => screens.some((screen) => screen.path === '/invoices/new') && go('/invoices/new'),
  }
  const found = action[event.key]
  if (!found) return
  event.preventDefault()
  found()
}

export function useShellKeys(): void {
  useEffect(() => {
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
}
