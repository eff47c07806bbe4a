// One invoice: what happened, live; its addresses, payments, webhooks; and what can be done about it.

import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { announce } from '#shared/parts/announce.tsx'
import type { Invoice, InvoiceEvent, Payment, Rate, Refund, WebhookDelivery } from '#shared/api/types.ts'
import { get, type List, post, segment } from '../../api/client.ts'
import { type Data, useData } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { follow } from '../../api/stream.ts'
import { href } from '../../app/router.ts'
import { Action } from '../../parts/action.tsx'
import { CopyField } from '../../parts/copy.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Notice } from '../../parts/notice.tsx'
import { InvoiceStatus } from '../../parts/tag.tsx'
import { toast } from '../../parts/toast.tsx'
import { grouped, symbolOf, When } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { AddressCard } from './address-card.tsx'
import { Deliveries } from './deliveries.tsx'
import { Happenings } from './happenings.tsx'
import { PayIt } from './pay-it.tsx'
import { PaymentsOf } from './payments-of.tsx'
import { timeline } from './timeline.ts'

const ALL = 100
/** After an event: once for what it changed, and once more for what the merchant's server answered. */
const AFTER_MS = [300, 3_000]

interface Whole {
  invoice: Invoice
  payments: Payment[]
  deliveries: WebhookDelivery[]
  refunds: Refund[]
}

async function load(id: string): Promise<Whole> {
  const part = async <T,>(path: string) => (await get<List<T>>(path, { invoice: id, limit: ALL })).data
  const [invoice, payments, deliveries, refunds] = await Promise.all([
    get<Invoice>(`/invoices/${segment(id)}`),
    part<Payment>('/payments'),
    part<WebhookDelivery>('/webhook_deliveries'),
    part<Refund>('/refunds'),
  ])
  return { invoice, payments, deliveries, refunds }
}

/** The invoice's events so far; at each new one the rest is asked for again. */
function useEvents(id: string, reload: () => Promise<void>): InvoiceEvent[] {
  const [events, setEvents] = useState<InvoiceEvent[]>([])
  useEffect(() => {
    let timers: ReturnType<typeof setTimeout>[] = []
    setEvents([])
    const stop = follow(`/invoices/${segment(id)}/events`, (data) => {
      const event = data as InvoiceEvent
      setEvents((before) => (before.some((one) => one.id === event.id) ? before.map((one) => (one.id === event.id ? event : one)) : [...before, event]))
      timers.forEach(clearTimeout)
      timers = AFTER_MS.map((wait) => setTimeout(() => void reload(), wait))
    })
    return () => {
      stop()
      timers.forEach(clearTimeout)
    }
  }, [id, reload])
  return events
}

export default function InvoiceScreen({ id }: { id: string }) {
  const whole = useData(() => load(id), [id])
  const reload = useCallback(() => whole.reload(), [whole.reload])
  const events = useEvents(id, reload)
  return (
    <>
      {whole.value === null && whole.error !== null && <Head title={t.invoices.facts.id} up={{ to: '/invoices', label: t.invoices.title }} />}
      <Loaded of={whole}>{(value) => <Shown whole={value} data={whole} events={events} />}</Loaded>
    </>
  )
}

/** Statuses in which something still can be paid. */
const OPEN = ['awaiting_payment', 'detected', 'confirming', 'partially_paid']

function Shown({ whole, data, events }: { whole: Whole; data: Data<Whole>; events: InvoiceEvent[] }) {
  const { invoice, payments, deliveries, refunds } = whole
  const happened = useMemo(() => timeline(events, payments, deliveries, refunds), [events, payments, deliveries, refunds])
  // Whoever does not see the page hears what became of the invoice.
  const said = useRef(invoice.status)
  useEffect(() => {
    if (said.current !== invoice.status) announce(`${t.invoices.facts.id}: ${t.statuses[invoice.status] ?? invoice.status}`)
    said.current = invoice.status
  }, [invoice.status])
  const replaced = (now: Invoice) => {
    data.set({ ...whole, invoice: now })
    void data.reload()
  }
  const isOpen = OPEN.includes(invoice.status) && invoice.closed_at === null
  // What it offers now; an event of the past may have offered something else.
  const options = isOpen ? (events.at(-1)?.invoice.payment_options ?? []) : []
  return (
    <>
      <Head title={`${grouped(invoice.amount.amount)} ${invoice.amount.currency}`} beside={<InvoiceStatus status={invoice.status} />} up={{ to: '/invoices', label: t.invoices.title }}>
        <Buttons invoice={invoice} payments={payments} replaced={replaced} />
      </Head>
      <div class="two">
        <div>
          <Note invoice={invoice} payments={payments} />
          {!invoice.livemode && may('test_helpers') && isOpen && invoice.payment_options.length > 0 && <PayIt invoice={invoice} paid={replaced} />}
          <Happenings happened={happened} isLive={isOpen} isTest={!invoice.livemode} />
          <PaymentsOf payments={payments} changed={() => void data.reload()} />
          <Deliveries deliveries={deliveries} changed={() => void data.reload()} />
        </div>
        <div>
          <Facts invoice={invoice} />
          {isOpen && options.length > 0 && <AddressCard options={options} madeAt={invoice.created_at} />}
          {isOpen && <Pay invoice={invoice} />}
          <Attached metadata={invoice.metadata} />
        </div>
      </div>
    </>
  )
}

function Buttons({ invoice, payments, replaced }: { invoice: Invoice; payments: Payment[]; replaced: (now: Invoice) => void }) {
  const to = `/refunds/new?invoice=${segment(invoice.id)}`
  const over = invoice.amount_overpaid
  const mayGiveBack = payments.some((payment) => payment.status === 'credited' || payment.status === 'refundable') && invoice.status !== 'under_review'
  const cancel = async () => {
    replaced(await post<Invoice>(`/invoices/${segment(invoice.id)}/cancel`))
    toast(t.invoices.cancel.done)
  }
  return (
    <>
      {invoice.status === 'awaiting_payment' && may('sales.write') && (
        <Action kind="danger" run={cancel} ask={{ title: t.invoices.cancel.ask, text: t.invoices.cancel.text, yes: t.invoices.cancel.yes, no: t.invoices.cancel.no }}>
          {t.invoices.cancel.button}
        </Action>
      )}
      {invoice.status === 'under_review' && (
        <a class="btn primary" href={href(`/reviews/${segment(invoice.id)}`)}>
          <Icon name="eye" />
          {t.invoices.review}
        </a>
      )}
      {mayGiveBack && may('refunds.write') && (
        <a class={`btn ${over ? 'primary' : ''}`} href={href(to)}>
          <Icon name="back" />
          {over ? t.invoices.refundAmount(`${grouped(over.amount)} ${symbolOf(over.asset)}`) : t.invoices.refund}
        </a>
      )}
    </>
  )
}

/** What the status means for the merchant, where it asks for something. */
function Note({ invoice, payments }: { invoice: Invoice; payments: Payment[] }) {
  const said = t.invoices.notes
  const money = (one: { amount: string; asset: string }) => `${grouped(one.amount)} ${symbolOf(one.asset)}`
  const { status, amount_overpaid, amount_remaining, review } = invoice
  if (status === 'overpaid' && amount_overpaid) {
    return (
      <Notice tone="info" glyph="plus" title={said.overpaid(money(amount_overpaid))}>
        {said.overpaidText}
      </Notice>
    )
  }
  if (status === 'partially_paid' && amount_remaining) {
    return (
      <Notice tone="warn" glyph="half" title={said.partly(money(amount_remaining))}>
        {invoice.closed_at === null ? said.partlyText : said.partlyClosed}
      </Notice>
    )
  }
  if (status === 'under_review' && review) {
    return (
      <Notice tone="warn" glyph="eye" title={t.reviews.holds[review.hold]?.title ?? review.hold}>
        {t.reviews.holds[review.hold]?.text}
      </Notice>
    )
  }
  if (status === 'paid_late') {
    return (
      <Notice tone="info" glyph="clock" title={said.late}>
        {said.lateText}
      </Notice>
    )
  }
  if (payments.some((payment) => payment.status === 'refundable')) {
    return (
      <Notice tone="warn" glyph="back" title={said.refundable}>
        {said.refundableText}
      </Notice>
    )
  }
  return null
}

function Facts({ invoice }: { invoice: Invoice }) {
  const said = t.invoices.facts
  const received = invoice.amounts_received.map((one) => `${grouped(one.amount)} ${symbolOf(one.asset)}`)
  const isOver = invoice.closed_at !== null
  const linked = (to: string, id: string) => <a href={href(to)}>{id}</a>
  const rows: [string, ComponentChildren][] = [[said.id, <code key="id">{invoice.id}</code>]]
  if (invoice.description) rows.push([said.what, invoice.description])
  if (invoice.customer_ref) rows.push([said.customer, invoice.customer_ref])
  rows.push([said.asked, `${grouped(invoice.amount.amount)} ${invoice.amount.currency}`])
  const rated = [...invoice.payment_options, ...invoice.pending_options].find((option) => option.rate)
  if (rated?.rate) rows.push([said.rate, <RateOf key="rate" rate={rated.rate} symbol={rated.symbol} currency={invoice.amount.currency} />])
  rows.push([said.received, received.length > 0 ? <span class="num">{received.join(' + ')}</span> : t.invoices.notYet])
  rows.push([said.made, <When key="made" at={invoice.created_at} />])
  if (invoice.paid_at) rows.push([said.paid, <When key="paid" at={invoice.paid_at} />])
  rows.push([isOver ? said.wasDue : said.due, <When key="due" at={invoice.expires_at} />])
  if (invoice.payment_link) rows.push([said.link, linked(`/links/${segment(invoice.payment_link)}`, invoice.payment_link)])
  if (invoice.customer) rows.push([said.customerId, linked(`/customers/${segment(invoice.customer)}`, invoice.customer)])
  if (invoice.subscription) rows.push([said.subscription, linked(`/subscriptions/${segment(invoice.subscription)}`, invoice.subscription)])
  return (
    <Card title={said.title}>
      <dl class="facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

/** What one token counts as, since when, and who says so. */
function RateOf({ rate, symbol, currency }: { rate: Rate; symbol: string; currency: string }) {
  const said = t.invoices.facts
  return (
    <>
      {said.rateOf(symbol, `${grouped(rate.price)} ${currency}`)}
      <When at={rate.at} />
      {` · ${rate.sources.join(', ') || said.rateSet}`}
    </>
  )
}

/** Nothing but an address of the web is opened: what the server sends could be anything. */
export const isWeb = (url: string) => /^https?:\/\//.test(url)

function Pay({ invoice }: { invoice: Invoice }) {
  if (!isWeb(invoice.checkout_url)) return null
  return (
    <Card title={t.invoices.checkout}>
      <div class="stack">
        <CopyField label={t.invoices.checkoutLink} value={invoice.checkout_url} />
        <p>
          <a class="btn" href={invoice.checkout_url} target="_blank" rel="noopener noreferrer">
            <Icon name="out" />
            {t.invoices.openCheckout}
          </a>
        </p>
      </div>
    </Card>
  )
}

function Attached({ metadata }: { metadata: Record<string, string> }) {
  const pairs = Object.entries(metadata)
  if (pairs.length === 0) return null
  return (
    <Card title={t.invoices.data}>
      <dl class="facts mono">
        {pairs.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}
