// What happened to an invoice, newest first: its events, its payments, what the merchant's server was told, its refunds.

import { networkName } from '#shared/chain/networks.ts'
import type { InvoiceEvent, Payment, Refund, WebhookDelivery } from '#shared/api/types.ts'
import type { Glyph } from '../../parts/icon.tsx'
import type { Tone } from '../../parts/notice.tsx'
import { grouped, networkOf, symbolOf } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'

export interface Happened {
  key: string
  at: string
  tone: Tone
  glyph: Glyph
  title: string
  detail: string | null
  /** The payment it is about, whose sender and transaction are shown. */
  payment: Payment | null
}

const EVENTS: Record<string, [Tone, Glyph]> = {
  'invoice.created': ['plain', 'doc'],
  'invoice.awaiting_payment': ['plain', 'clock'],
  'invoice.detected': ['info', 'seen'],
  'invoice.confirming': ['info', 'half'],
  'invoice.paid': ['ok', 'check'],
  'invoice.partially_paid': ['warn', 'half'],
  'invoice.overpaid': ['ok', 'plus'],
  'invoice.paid_late': ['ok', 'clock'],
  'invoice.expired': ['plain', 'minus'],
  'invoice.under_review': ['warn', 'eye'],
  'invoice.cancelled': ['plain', 'cross'],
}

const money = (amount: string, asset: string) => `${grouped(amount)} ${symbolOf(asset)}`

const arrived = (amount: string, asset: string) => t.invoices.happened.arrived(money(amount, asset), networkName(networkOf(asset), networkOf(asset)))

function detailOf({ type, invoice }: InvoiceEvent): string | null {
  const said = t.invoices.happened
  const last = invoice.payments.at(-1)
  const received = invoice.amounts_received.map((one) => money(one.amount, one.asset)).join(' + ')
  switch (type) {
    case 'invoice.detected':
      return last ? arrived(last.amount, last.asset) : null
    case 'invoice.overpaid':
      return invoice.amount_overpaid ? said.tooMuch(received, grouped(invoice.amount_overpaid.amount)) : received
    case 'invoice.partially_paid':
      return invoice.amount_remaining ? said.tooLittle(received, money(invoice.amount_remaining.amount, invoice.amount_remaining.asset)) : received
    case 'invoice.paid':
    case 'invoice.paid_late':
      return received === '' ? null : said.counted(received)
    default:
      return null
  }
}

function fromEvent(event: InvoiceEvent, payments: Payment[]): Happened {
  const [tone, glyph] = EVENTS[event.type] ?? ['plain', 'minus']
  const hash = event.type === 'invoice.detected' ? event.invoice.payments.at(-1)?.tx_hash : undefined
  return {
    key: `event-${event.id}`,
    at: event.created_at,
    tone,
    glyph,
    title: t.invoices.events[event.type] ?? event.type,
    detail: detailOf(event),
    payment: payments.find((payment) => payment.tx_hash === hash) ?? null,
  }
}

/** Payments that no event of the invoice tells of: what came after its end, and what a network took back. */
function fromPayment(payment: Payment): Happened[] {
  const said = t.invoices.happened
  const same = { at: payment.first_seen_at, detail: arrived(payment.amount, payment.asset), payment }
  if (payment.status === 'refundable') return [{ ...same, key: payment.id, tone: 'warn', glyph: 'back', title: said.refundable }]
  if (payment.status === 'reversed') return [{ ...same, key: payment.id, tone: 'bad', glyph: 'cross', title: said.reversed }]
  return []
}

function fromDelivery(delivery: WebhookDelivery): Happened[] {
  const said = t.invoices.happened
  if (delivery.attempted_at === null) return []
  const same = { key: delivery.id, at: delivery.attempted_at, payment: null }
  const event = delivery.event_type.replace(/^invoice\./, '').replaceAll('_', ' ')
  if (delivery.status === 'succeeded') return [{ ...same, tone: 'ok', glyph: 'bolt', title: said.told(event), detail: said.answered(delivery.status_code, delivery.latency_ms) }]
  if (delivery.status === 'failed') return [{ ...same, tone: 'bad', glyph: 'alert', title: said.notTold(event), detail: delivery.error ?? said.answered(delivery.status_code, delivery.latency_ms) }]
  return [{ ...same, tone: 'warn', glyph: 'alert', title: said.toldAgain(event), detail: delivery.error ?? said.answered(delivery.status_code, delivery.latency_ms) }]
}

function fromRefund(refund: Refund): Happened[] {
  const said = t.invoices.happened
  const amount = money(refund.amount, refund.asset)
  const step = (key: string, at: string | null, tone: Tone, glyph: Glyph, title: string): Happened[] => (at === null ? [] : [{ key: `${refund.id}-${key}`, at, tone, glyph, title, detail: amount, payment: null }])
  return [
    ...step('made', refund.created_at, 'plain', 'back', said.refundMade),
    ...step('claimed', refund.claimed_at, 'info', 'pin', said.refundClaimed),
    ...step('sent', refund.sent_at, 'ok', 'check', said.refundSent),
    ...step('cancelled', refund.cancelled_at, 'plain', 'cross', said.refundCancelled),
  ]
}

export function timeline(events: InvoiceEvent[], payments: Payment[], deliveries: WebhookDelivery[], refunds: Refund[]): Happened[] {
  const all = [...events.map((event) => fromEvent(event, payments)), ...payments.flatMap(fromPayment), ...deliveries.flatMap(fromDelivery), ...refunds.flatMap(fromRefund)]
  // Of one moment, what was told later stands higher.
  return all.map((one, index) => ({ one, index })).sort((a, b) => Date.parse(b.one.at) - Date.parse(a.one.at) || b.index - a.index).map(({ one }) => one)
}
