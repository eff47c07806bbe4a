// Addresses: `/dashboard/{mode}/{screen…}?{filters}`. What is shown follows from the address alone, so that back,
// reload, a second tab and a link to a colleague show the same.

import { base } from './server.ts'
import { store } from './store.ts'

export type Mode = 'test' | 'live'

export interface Place {
  /** Null on pages before a mode is chosen: signing in, links from mails. */
  mode: Mode | null
  /** Below the mode, such as `/invoices/inv_1`. */
  path: string
  query: URLSearchParams
}

export function read(pathname: string, search: string): Place {
  const below = pathname.startsWith(base) ? pathname.slice(base.length) : pathname
  const [, mode, rest] = /^\/(test|live)(\/.*)?$/.exec(below) ?? [null, null, below]
  return { mode: mode as Mode | null, path: (rest ?? '').replace(/\/+$/, '') || '/', query: new URLSearchParams(search) }
}

const now = () => read(location.pathname, location.search)
const current = store<Place>(now())

export const place = () => current.get()
export const usePlace = () => current.use()

/** The whole address of a screen: in the mode that is shown, unless another is asked for. */
export function href(path: string, mode: Mode | null = place().mode): string {
  return `${base}${mode === null ? '' : `/${mode}`}${path === '/' ? '' : path}` || '/'
}

export function go(path: string, how: { mode?: Mode | null; replace?: boolean } = {}): void {
  const to = href(path, how.mode === undefined ? place().mode : how.mode)
  if (how.replace) history.replaceState(null, '', to)
  else history.pushState(null, '', to)
  moved()
  if (!how.replace) scrollTo(0, 0)
}

/** Changes filters in the address; null takes one away. The page of a list is left, since it was another list's. */
export function filter(values: Record<string, string | null>): void {
  const query = new URLSearchParams(location.search)
  if (!('cursor' in values)) query.delete('cursor')
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === '') query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  history.pushState(null, '', location.pathname + (text ? `?${text}` : ''))
  moved()
}

function moved(): void {
  current.set(now())
}

/** Parts of a path that are named in a pattern (`/invoices/:id`), or null when it is another path. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== given.length) return null
  const found: Record<string, string> = {}
  for (const [at, part] of wanted.entries()) {
    const value = given[at] as string
    if (part.startsWith(':')) {
      try {
        found[part.slice(1)] = decodeURIComponent(value)
      } catch {
        return null
      }
      if (value === '') return null
    } else if (part !== value) return null
  }
  return found
}

/** Links to these pages change the page; with a modifier, or elsewhere, they do what links do. */
function clicked(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest?.('a')
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  if (link.origin !== location.origin || link.target || link.hasAttribute('download')) return
  if (link.pathname !== base && !link.pathname.startsWith(`${base}/`)) return
  event.preventDefault()
  if (link.href !== location.href) history.pushState(null, '', link.href)
  moved()
  scrollTo(0, 0)
}

export function startRouter(): void {
  addEventListener('popstate', moved)
  document.addEventListener('click', clicked)
}
