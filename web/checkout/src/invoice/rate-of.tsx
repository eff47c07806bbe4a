import { price } from '#shared/money.ts'
import { clock } from '#shared/time.ts'
import type { Invoice } from '../api/shapes.ts'
import { locale, t } from '../words/words.ts'
import type { Way } from './store.ts'

interface RateOf {
  rate: NonNullable<Way['rate']>
  symbol: string
  invoice: Invoice
  now: number
}

/** How long the amount holds; what one token counts as, since when, and who says so. */
export function RateOf({ rate, symbol, invoice, now }: RateOf) {
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
