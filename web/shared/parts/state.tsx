// The head of a state: a glyph on its tint, a heading, what it means and what to do.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon, type Glyph } from './icon.tsx'

export type Tone = 'ok' | 'info' | 'warn' | 'bad' | 'plain'

interface State {
  tone?: Tone
  glyph?: Glyph
  title: ComponentChildren
  /** The heading takes the focus when it appears: the payer should hear this without looking for it. */
  isFocused?: boolean
  children?: ComponentChildren
}

export function State({ tone = 'plain', glyph, title, isFocused = false, children }: State) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (isFocused) heading.current?.focus()
  }, [isFocused])
  return (
    <div class="state">
      {glyph && (
        <div class={`glyph ${tone}`}>
          <Icon name={glyph} />
        </div>
      )}
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </div>
  )
}

export function Note({ tone, glyph = 'alert', children }: { tone: Tone; glyph?: Glyph; children: ComponentChildren }) {
  return (
    <p class={`note ${tone}`}>
      <Icon name={glyph} />
      <span>{children}</span>
    </p>
  )
}
