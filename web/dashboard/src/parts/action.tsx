// A button that does one thing: sends a POST, shows why it was refused, and cannot be pressed twice.

import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { t } from '../texts/t.ts'
import { Buttons, Dialog } from './dialog.tsx'
import { type Glyph, Icon } from './icon.tsx'
import { Problem } from './notice.tsx'

interface Props {
  run: () => Promise<unknown>
  children: ComponentChildren
  glyph?: Glyph
  kind?: 'primary' | 'danger' | ''
  /** Asks first: the question, and what follows in one sentence. */
  ask?: { title: string; text: string; yes: string; no?: string; needsPasskey?: boolean }
}

export function Action({ run, children, glyph, kind = '', ask }: Props) {
  const [isAsked, setAsked] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const busy = useRef(false)
  const go = async () => {
    if (busy.current) return
    busy.current = true
    setBusy(true)
    setError(null)
    try {
      await run()
      setAsked(false)
    } catch (refused) {
      setError(refused)
    } finally {
      busy.current = false
      setBusy(false)
    }
  }
  const close = () => {
    setAsked(false)
    setError(null)
  }
  return (
    <>
      <button type="button" class={`btn ${kind}`} aria-disabled={isBusy} onClick={() => (ask ? setAsked(true) : void go())}>
        {glyph && <Icon name={glyph} />}
        {children}
      </button>
      {!ask && error !== null && <Problem error={error} />}
      {ask && isAsked && (
        <Dialog title={ask.title} onClose={close}>
          <p>{ask.text}</p>
          {error !== null && <Problem error={error} />}
          <Buttons>
            <button type="button" class="btn" onClick={close}>
              {ask.no ?? t.common.cancel}
            </button>
            <button type="button" class={`btn ${kind || 'primary'}`} aria-disabled={isBusy} onClick={() => void go()}>
              {ask.needsPasskey && <Icon name="key" />}
              {ask.yes}
            </button>
          </Buttons>
        </Dialog>
      )}
    </>
  )
}
