// A refund's status as everybody reads it, and what each means for the merchant.

import type { Refund, RefundStatus as Status } from '#shared/api/types.ts'
import { type Glyph, Icon } from '../../parts/icon.tsx'
import type { Tone } from '../../parts/notice.tsx'
import { Tag } from '../../parts/tag.tsx'
import { t } from '../../texts/t.ts'

/** In the order in which they need a person: what must not be paid first. */
export const STATUSES: readonly Status[] = ['in_review', 'ready_to_send', 'unclaimed', 'sent', 'cancelled']

const LOOKS: Record<string, [Tone, Glyph]> = {
  in_review: ['bad', 'stop'],
  ready_to_send: ['info', 'pay'],
  unclaimed: ['plain', 'clock'],
  sent: ['ok', 'check'],
  cancelled: ['plain', 'cross'],
  ended: ['plain', 'minus'],
}

/** A link that nobody used in time takes its refund out of what is owed, though its status stays. */
export const hasEnded = (refund: Pick<Refund, 'status' | 'expires_at'>, now: number) => refund.status === 'unclaimed' && Date.parse(refund.expires_at) <= now

/** The status as it is told. */
export const toldStatus = (refund: Refund, now: number) => (hasEnded(refund, now) ? 'ended' : refund.status)

export function RefundStatus({ status }: { status: string }) {
  const [tone, glyph] = LOOKS[status] ?? ['plain', 'minus']
  return (
    <Tag tone={tone} glyph={glyph}>
      {t.refunds.statuses[status] ?? status}
    </Tag>
  )
}

/** The glyph alone, where the word stands beside it already. */
export function StatusGlyph({ status }: { status: string }) {
  const [tone, glyph] = LOOKS[status] ?? ['plain', 'minus']
  return (
    <span class={`glyph ${tone}`}>
      <Icon name={glyph} />
    </span>
  )
}

/** Why it is given back, in words; what nobody said is nothing. */
export const reasonOf = (refund: Refund) => (refund.reason === null ? null : (t.refunds.reasons[refund.reason] ?? refund.reason))
