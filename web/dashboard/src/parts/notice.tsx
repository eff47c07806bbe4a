// Notices: what happened, and what to do about it.

import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { announce } from '#shared/parts/announce.tsx'
import { problem } from '../api/problem.ts'
import { t } from '../texts/t.ts'
import { type Glyph, Icon } from './icon.tsx'

export type Tone = 'ok' | 'info' | 'warn' | 'bad' | 'plain'

interface Props {
  tone: Tone
  glyph?: Glyph
  title?: ComponentChildren
  children?: ComponentChildren
  /** The one thing to do about it. */
  action?: ComponentChildren
}

export function Notice({ tone, glyph = tone === 'ok' ? 'check' : 'alert', title, children, action }: Props) {
  return (
    <div class={`note ${tone}`}>
      <Icon name={glyph} />
      <div class="says">
        {title && <b>{typeof title === 'string' && children ? t.common.sentence(title) : title}</b>} {children}
      </div>
      {action}
    </div>
  )
}

/** A refusal with its remedy; read out when it appears. */
export function Problem({ error, again }: { error: unknown; again?: (() => void) | undefined }) {
  const { title, remedy, requestId } = problem(error)
  useEffect(() => announce(remedy === null ? title : `${t.common.sentence(title)} ${remedy}`, 'assertive'), [title, remedy])
  return (
    <Notice
      tone="bad"
      title={title}
      action={
        again && (
          <button type="button" class="btn" onClick={again}>
            {t.common.again}
          </button>
        )
      }
    >
      {remedy}
      {requestId && <span class="dim"> {t.problemNumber(requestId)}</span>}
    </Notice>
  )
}
