// What is still to be sent after a part has arrived.

import type { Invoice } from '../api/shapes.ts'
import { add, compare, isZero, subtract } from '#shared/money.ts'
import { symbolOf, tokens } from '../parts/amount.tsx'
import { t } from '../words/words.ts'
import { type CheckedWay, isChecked, type Way } from './store.ts'

/** The way that the rest is asked for in; null when nothing is to be sent now. */
export function restWay(invoice: Invoice, ways: Way[]): CheckedWay | null {
  const way = ways.find((one) => one.asset === invoice.amount_remaining?.asset)
  return isChecked(way) && !isZero(remainingOf(invoice, way)) ? way : null
}

export const restSaid = (invoice: Invoice): string => {
  const rest = invoice.amount_remaining
  return rest ? `${t('pay.send_rest')} ${tokens(rest.amount, symbolOf(rest.asset))}` : ''
}

export const GONE = ['reversed', 'refundable']
export const COMING = ['pending', 'confirming']

/** What came in an asset, but for payments of these kinds. Other assets have no part in the figures. */
export function receivedOf(invoice: Invoice, asset: string, but: string[]): string {
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
