// A part has arrived: how much, and what is still to be sent to the same address.

import type { Invoice } from '../api/shapes.ts'
import { add, compare, isZero, shown, subtract, thousandths } from '../money.ts'
import { usePage } from '../page.tsx'
import { Tokens } from '../parts/amount.tsx'
import { Deadline } from '../parts/deadline.tsx'
import { Icon } from '../parts/icon.tsx'
import { State } from '../parts/state.tsx'
import { Track } from '../parts/track.tsx'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'
import { After } from './awaiting.tsx'
import { slowest, steps } from './confirming.tsx'
import { Pay } from './pay.tsx'
import { isChecked, type Store, type Way } from './store.ts'

/** The way that the remainder is asked for in. */
function restWay(invoice: Invoice, ways: Way[]): Way | null {
  const rest = invoice.amount_remaining
  return ways.find((way) => way.asset === rest?.asset) ?? null
}

const GONE = ['reversed', 'refundable']
const COMING = ['pending', 'confirming']

/** What came in an asset, but for payments of these kinds. Other assets have no part in the figures. */
function receivedOf(invoice: Invoice, asset: string, but: string[]): string {
  const counted = invoice.payments.filter((one) => one.asset === asset && !but.includes(one.status))
  return counted.reduce((sum, one) => add(sum, one.amount), '0')
}

/** What is still to be sent: never more than is missing after what this page has seen coming. Of what is there already,
 *  some may have been refunded, which only the server knows. */
export function remainingOf(invoice: Invoice, way: Way): string {
  const said = invoice.amount_remaining?.amount ?? '0'
  if (!invoice.payments.some((one) => one.asset === way.asset && COMING.includes(one.status))) return said
  const missing = subtract(way.amount_due, receivedOf(invoice, way.asset, GONE))
  return compare(said, missing) <= 0 ? said : missing
}

function Rest({ invoice, way, remaining, isComing }: { invoice: Invoice; way: Way; remaining: string; isComing: boolean }) {
  const received = receivedOf(invoice, way.asset, isComing ? [...GONE, ...COMING] : GONE)
  const share = thousandths(received, way.amount_due)
  return (
    <div class="stack">
      <p class={`note ${isComing ? 'info' : 'warn'}`}>
        <Icon name="half" />
        <span>
          <Text
            word={isComing ? 'pay.part_coming' : 'pay.part'}
            received={<bdi class="num ltr">{shown(received)}</bdi>}
            asked={<Tokens amount={way.amount_due} symbol={way.symbol} />}
          />
        </span>
      </p>
      <div class="got">
        <svg viewBox="0 0 1000 40" preserveAspectRatio="none" aria-hidden="true">
          <rect width={share.toString()} height="40" />
        </svg>
        <div class="row small">
          <span>
            {t('pay.received')} <b class="num ltr">{shown(received)}</b>
          </span>
          {!isComing && (
            <span>
              {t('pay.to_pay')} <b class="num ltr">{shown(remaining)}</b>
            </span>
          )}
        </div>
      </div>
    </div>
  )
}

export function Partial({ invoice, ways, store, shop, now }: { invoice: Invoice; ways: Way[]; store: Store; shop: string; now: number }) {
  const { config } = usePage()
  const way = restWay(invoice, ways)
  const remaining = way ? remainingOf(invoice, way) : '0'
  const isLate = Date.parse(invoice.expires_at) <= now
  if (!isChecked(way) || isZero(remaining)) {
    const payment = slowest(invoice)
    return (
      <div class="card">
        <State tone="info" glyph="half" title={t('pay.confirming')} />
        {way && <Rest invoice={invoice} way={way} remaining={remaining} isComing />}
        {payment && <Track steps={steps(payment, invoice.status)} />}
      </div>
    )
  }
  const strip = isLate ? (
    <p class="due warn">
      <Icon name="clock" />
      <b>{t('pay.rest_over')}</b>
    </p>
  ) : (
    <Deadline at={invoice.expires_at} word="pay.rest_before" now={now} />
  )
  return (
    <>
      <Pay
        key={remaining}
        invoice={invoice}
        way={way}
        shop={shop}
        amount={remaining}
        isRest
        isFocused={false}
        distrust={store.distrust}
        head={
          <>
            {strip}
            <Rest invoice={invoice} way={way} remaining={remaining} isComing={false} />
          </>
        }
      />
      <After invoice={invoice}>
        {config.supportUrl && (
          <p class="small">
            <a href={config.supportUrl} rel="noopener">
              {t('pay.refund_instead')}
            </a>
          </p>
        )}
      </After>
    </>
  )
}
