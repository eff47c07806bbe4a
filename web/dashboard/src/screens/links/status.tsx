// How a payment link stands, and its price in words.

import type { PaymentLink } from '#shared/api/types.ts'
import type { Glyph } from '../../parts/icon.tsx'
import type { Tone } from '../../parts/notice.tsx'
import { Tag } from '../../parts/tag.tsx'
import { grouped } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'

export type Standing = 'on' | 'off' | 'ended' | 'sold_out'

/** Why payers are turned away, in the order in which the server says it. */
export function standing(link: PaymentLink, now: number): Standing {
  if (!link.active) return 'off'
  if (link.expires_at !== null && Date.parse(link.expires_at) <= now) return 'ended'
  if (link.quantity_limit !== null && link.quantity_used >= link.quantity_limit) return 'sold_out'
  return 'on'
}

const LOOKS: Record<Standing, [Tone, Glyph]> = {
  on: ['ok', 'check'],
  off: ['plain', 'minus'],
  ended: ['plain', 'clock'],
  sold_out: ['info', 'check'],
}

export function LinkStatus({ link, now }: { link: PaymentLink; now: number }) {
  const is = standing(link, now)
  const [tone, glyph] = LOOKS[is]
  return (
    <Tag tone={tone} glyph={glyph}>
      {t.links.standings[is]}
    </Tag>
  )
}

/** `25.00 USD`, `5.00 to 50.00 USD`, or that the payer chooses. */
export function priceOf(link: PaymentLink): string {
  if (link.amount_type === 'fixed') return `${grouped(link.amount ?? '0')} ${link.currency}`
  const [least, most] = [link.min_amount, link.max_amount].map((amount) => (amount === null ? null : grouped(amount)))
  if (least && most) return t.links.between(least, most, link.currency)
  if (least) return t.links.atLeast(least, link.currency)
  return most ? t.links.atMost(most, link.currency) : t.links.free(link.currency)
}

/** Whether the address is one to give to payers: on the web, with the publishable key that the page needs. */
export function sharing(link: PaymentLink): 'whole' | 'keyless' | 'broken' {
  const url = URL.canParse(link.url) ? new URL(link.url) : null
  if (url === null || !/^https?:$/.test(url.protocol)) return 'broken'
  return url.searchParams.has('key') ? 'whole' : 'keyless'
}
