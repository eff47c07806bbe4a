// A status as glyph, word and tint.

import type { ComponentChildren } from 'preact'
import { t } from '../texts/t.ts'
import { type Glyph, Icon } from './icon.tsx'
import type { Tone } from './notice.tsx'

export function Tag({ tone = 'plain', glyph, children }: { tone?: Tone; glyph?: Glyph; children: ComponentChildren }) {
  return (
    <span class={`tag ${tone}`}>
      {glyph && <Icon name={glyph} />}
      {children}
    </span>
  )
}

const INVOICE: Record<string, [Tone, Glyph]> = {
  awaiting_payment: ['plain', 'clock'],
  detected: ['info', 'seen'],
  confirming: ['info', 'half'],
  paid: ['ok', 'check'],
  partially_paid: ['warn', 'half'],
  overpaid: ['ok', 'plus'],
  paid_late: ['ok', 'clock'],
  expired: ['plain', 'minus'],
  under_review: ['warn', 'eye'],
  cancelled: ['plain', 'cross'],
}

export function InvoiceStatus({ status }: { status: string }) {
  const [tone, glyph] = INVOICE[status] ?? ['plain', 'minus']
  return (
    <Tag tone={tone} glyph={glyph}>
      {t.statuses[status] ?? status}
    </Tag>
  )
}
