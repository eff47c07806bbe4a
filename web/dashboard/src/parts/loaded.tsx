// Content that is asked for: grey bars at first, what came, or why nothing came.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Data } from '../api/data.ts'
import { t } from '../texts/t.ts'
import { type Glyph, Icon } from './icon.tsx'
import { Problem } from './notice.tsx'

/** Shorter waits show nothing at all. */
const PATIENCE_MS = 300

export function Bones() {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!isLate) return null
  return (
    <section class="card" aria-busy="true" aria-label={t.common.loading}>
      <div class="stack">
        <i class="bone" />
        <i class="bone" />
        <i class="bone" />
      </div>
    </section>
  )
}

export function Loaded<T>({ of, children }: { of: Data<T>; children: (value: T) => ComponentChildren }) {
  return (
    <>
      {of.error !== null && <Problem error={of.error} again={() => void of.reload()} />}
      {of.value !== null ? children(of.value) : of.error === null && <Bones />}
    </>
  )
}

interface EmptyProps {
  glyph: Glyph
  title: string
  text?: string | undefined
  action?: ComponentChildren
}

export function Empty({ glyph, title, text, action }: EmptyProps) {
  return (
    <div class="empty">
      <div class="glyph plain">
        <Icon name={glyph} />
      </div>
      <p>
        <b>{title}</b>
        {text && <span class="dim">{text}</span>}
      </p>
      {action}
    </div>
  )
}
