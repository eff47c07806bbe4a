import { price } from '#shared/money.ts'
import { clock } from '#shared/time.ts'
import type { Invoice } from '../api/shapes.ts'
import { locale, t } from '../words/words.ts'
import type { Way } from './store.ts'

interface RateOf {
  way: Way
  invoice: Invoice
  now: number
}

/** How long the amount holds; what one token counts as, since when, and who says so. Nothing where the price does not move. */
export function RateOf({ way: { rate, symbol }, invoice, now }: RateOf) {
  if (!rate) return null
  const cost = price(rate.price, invoice.amount.currency, locale())
  const said = t('help.rate', { symbol, time: clock(rate.at, now), price: cost })
  return (
    <p class="small dim">
      {t('help.fixed', { time: clock(invoice.expires_at, now) })}
      <br />
      {[said, ...rate.sources].join(' · ')}
    </p>
  )
}
