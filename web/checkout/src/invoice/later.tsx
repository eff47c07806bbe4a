// Everything but being asked to pay: seen, paid, over, being checked. It comes as one part, fetched once the page
// shows how to pay, with its words.

import type { Invoice } from '../api/shapes.ts'
import { State } from '#shared/parts/state.tsx'
import { Track } from '../parts/track.tsx'
import { t } from '../words/words.ts'
import { Confirming, said as seenSaid, slowest, steps } from './confirming.tsx'
import { cameLate, Ended, Expired, expiredText, Review } from './ended.tsx'
import { heading, Receipt } from './receipt.tsx'
import { Partial, Rest } from './rest.tsx'
import type { Settled, Store, Way } from './store.ts'

export { Partial }

interface Later {
  shown: Extract<Settled, { kind: 'ready' }>
  store: Store
  shop: string
}

export function Later({ shown: { invoice, ways }, store, shop }: Later) {
  switch (invoice.status) {
    case 'partially_paid':
      if (invoice.closed_at !== null) return <Expired invoice={invoice} shop={shop} />
      return <Coming invoice={invoice} way={ways.find((one) => one.asset === invoice.amount_remaining?.asset) ?? null} />
    case 'detected':
    case 'confirming':
      return <Confirming invoice={invoice} store={store} />
    case 'paid':
    case 'overpaid':
    case 'paid_late':
      return <Receipt invoice={invoice} shop={shop} store={store} />
    case 'under_review':
      return <Review invoice={invoice} shop={shop} />
    case 'cancelled':
      return (
        <Ended invoice={invoice} shop={shop} glyph="cross" title={t('later.cancelled')}>
          {t('later.cancelled_text')}
        </Ended>
      )
    default:
      return <Expired invoice={invoice} shop={shop} />
  }
}

/** A part is there and the rest on its way: nothing is asked for. */
function Coming({ invoice, way }: { invoice: Invoice; way: Way | null }) {
  const payment = slowest(invoice)
  return (
    <div class="card">
      <State tone="info" glyph="half" title={t('later.confirming')} />
      {way && <Rest invoice={invoice} way={way} word="later.part_coming" />}
      {payment && <Track steps={steps(payment, invoice.status)} />}
    </div>
  )
}

/** What the browser's tab says. */
export function title({ invoice }: { invoice: Invoice }): string {
  switch (invoice.status) {
    case 'detected':
      return t('later.seen')
    case 'partially_paid':
      return t(invoice.closed_at === null ? 'later.confirming' : 'later.over')
    case 'confirming':
      return t('later.confirming')
    case 'under_review':
      return t('later.review')
    case 'cancelled':
      return t('later.cancelled')
    case 'paid':
    case 'overpaid':
    case 'paid_late':
      return heading(invoice)
    default:
      return t('later.over')
  }
}

/** What is said aloud when it becomes so, and whether the payer has to stop for it. */
export function said(invoice: Invoice): [string, 'polite' | 'assertive'] {
  if (cameLate(invoice)) return [t('later.came_late'), 'polite']
  switch (invoice.status) {
    case 'detected':
    case 'confirming':
      return [seenSaid(invoice), 'polite']
    case 'cancelled':
      return [`${t('later.cancelled')}. ${t('later.cancelled_text')}`, 'assertive']
    case 'expired':
      return [`${t('later.over')}. ${expiredText(invoice)}`, 'assertive']
    case 'under_review':
      return [t('later.review'), 'polite']
    default:
      return [title({ invoice }), 'polite']
  }
}
