// A part has arrived: how much, and what is still to be sent to the same address.

import { useState } from 'preact/hooks'
import type { Invoice } from '../api/shapes.ts'
import { add, compare, isZero, shown, subtract, thousandths } from '../money.ts'
import { usePage } from '../page.tsx'
import { symbolOf, Tokens, tokens } from '../parts/amount.tsx'
import { Deadline } from '../parts/deadline.tsx'
import { Icon } from '../parts/icon.tsx'
import { State } from '../parts/state.tsx'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'
import { After } from './awaiting.tsx'
import { Pay } from './pay.tsx'
import { type CheckedWay, isChecked, type Store, type Way } from './store.ts'

/** The way that the rest is asked for in; null when nothing is to be sent now. */
export function restWay(invoice: Invoice, ways: Way[]): CheckedWay | null {
  const way = ways.find((one) => one.asset === invoice.amount_remaining?.asset)
  return isChecked(way) && !isZero(remainingOf(invoice, way)) ? way : null
}

export const restSaid = (invoice: Invoice): string => {
  const rest = invoice.amount_remaining
  return rest ? `${t('pay.send_rest')} ${tokens(rest.amount, symbolOf(rest.asset))}` : ''
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

interface Rest {
  invoice: Invoice
  way: Way
  word: 'pay.part' | 'pay.part_late' | 'later.part_coming'
}

/** How much is there, and how much is not. */
export function Rest({ invoice, way, word }: Rest) {
  const isComing = word === 'later.part_coming'
  const received = receivedOf(invoice, way.asset, isComing ? [...GONE, ...COMING] : GONE)
  const share = thousandths(received, way.amount_due)
  return (
    <div class="stack">
      <p class={`note ${isComing ? 'info' : 'warn'}`}>
        <Icon name="half" />
        <span>
          <Text
            word={word}
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
              {t('pay.to_pay')} <b class="num ltr">{shown(remainingOf(invoice, way))}</b>
            </span>
          )}
        </div>
      </div>
    </div>
  )
}

export function Partial({ invoice, ways, store, shop, now }: { invoice: Invoice; ways: Way[]; store: Store; shop: string; now: number }) {
  const { config } = usePage()
  const [isWanted, setWanted] = useState(false)
  const way = restWay(invoice, ways)
  if (way === null) return null
  const remaining = remainingOf(invoice, way)
  // What comes after the deadline still counts, but as late: whether the order stands is for the shop to say.
  const isLate = Date.parse(invoice.expires_at) <= now
  const rest = <Rest invoice={invoice} way={way} word={isLate ? 'pay.part_late' : 'pay.part'} />
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
      {isLate && !isWanted ? (
        <div class="card">
          <State tone="warn" glyph="clock" title={t('pay.rest_over')} />
          {rest}
          <div>
            <button type="button" class="btn wide" onClick={() => setWanted(true)}>
              {t('pay.rest_show')}
            </button>
          </div>
        </div>
      ) : (
        <Pay
          key={remaining}
          invoice={invoice}
          way={way}
          shop={shop}
          amount={remaining}
          isRest
          isFocused={isLate}
          distrust={store.distrust}
          head={
            <>
              {strip}
              {rest}
            </>
          }
        />
      )}
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
