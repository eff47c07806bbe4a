// A part has arrived: how much, and what is still to be sent to the same address.

import { useState } from 'preact/hooks'
import type { Invoice } from '../api/shapes.ts'
import { shown, thousandths } from '#shared/money.ts'
import { usePage } from '../page.tsx'
import { Tokens } from '../parts/amount.tsx'
import { Deadline } from '../parts/deadline.tsx'
import { Icon } from '#shared/parts/icon.tsx'
import { State } from '#shared/parts/state.tsx'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'
import { After } from './awaiting.tsx'
import { Pay } from './pay.tsx'
import { COMING, GONE, receivedOf, remainingOf, restWay } from './remaining.ts'
import type { Store, Way } from './store.ts'

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
