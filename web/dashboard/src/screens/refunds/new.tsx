// Giving money back: how much of what arrived, and why. Nothing is moved by it: it makes a link for the payer.

import type { Invoice, Refund, RefundReason } from '#shared/api/types.ts'
import { add, compare, isZero, subtract, typed } from '#shared/money.ts'
import { get, type List, post, segment } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { go, href, usePlace } from '../../app/router.ts'
import { Facts } from '../../parts/facts.tsx'
import { SelectField, Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Empty, Loaded } from '../../parts/loaded.tsx'
import { networkNameOf } from '../../parts/network.ts'
import { Notice } from '../../parts/notice.tsx'
import { InvoiceStatus } from '../../parts/tag.tsx'
import { toast } from '../../parts/toast.tsx'
import { grouped, Money, symbolOf } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { hasEnded } from './status.tsx'
import '../../style/refunds.css'

const REASONS: RefundReason[] = ['overpaid', 'late_payment', 'wrong_asset', 'review_rejected', 'requested_by_payer', 'duplicate', 'other']
const PAGE = 100
/** The most digits after the point that any asset has. */
const DECIMALS = 18

export interface Refundable {
  asset: string
  received: string
  /** In other refunds, open or sent. */
  taken: string
  left: string
  /** How much of it was paid beyond the price. */
  excess: string | null
}

/** What can be given back of each asset, as far as the page can tell: the server decides. */
export function refundable(invoice: Invoice, refunds: Refund[], now: number): Refundable[] {
  const over = invoice.amount_overpaid ?? null
  return invoice.amounts_received.map(({ asset, amount }) => {
    const others = refunds.filter((refund) => refund.asset === asset && refund.status !== 'cancelled' && !hasEnded(refund, now))
    const taken = others.reduce((sum, refund) => add(sum, refund.amount), '0')
    const left = subtract(amount, taken)
    const beyond = over?.asset === asset && !isZero(over.amount) ? over.amount : null
    return { asset, received: amount, taken, left, excess: beyond !== null && compare(beyond, left) <= 0 ? beyond : null }
  })
}

/** Amounts to choose from: what was paid too much, the price beside it, all that is left. */
export function choicesOf({ excess, left }: Refundable): [label: string, amount: string][] {
  if (excess === null) return [[t.refunds.whole, left]]
  const price = subtract(left, excess)
  return [[t.refunds.excess, excess], ...(isZero(price) ? [] : ([[t.refunds.priceAlone, price]] as [string, string][])), [t.refunds.everything, left]]
}

/** All refunds of an invoice: what another page of them holds must not be offered again. */
async function refundsOf(invoice: string): Promise<Refund[]> {
  const all: Refund[] = []
  for (let cursor: string | null = null; ; ) {
    const page: List<Refund> = await get<List<Refund>>('/refunds', { invoice, limit: PAGE, cursor })
    all.push(...page.data)
    if (page.next_cursor === null) return all
    cursor = page.next_cursor
  }
}

export default function NewRefundScreen() {
  const { query } = usePlace()
  const id = query.get('invoice')
  return (
    <>
      <Head title={t.refunds.newTitle} up={{ to: '/refunds', label: t.nav.refunds }} />
      {id === null ? <Choose /> : <Of key={id} id={id} />}
    </>
  )
}

function Choose() {
  const form = useForm({ invoice: '' }, async ({ invoice }) => {
    const found = await get<Invoice>(`/invoices/${segment(invoice.trim())}`)
    go(`/refunds/new?invoice=${segment(found.id)}`)
  })
  return (
    <Card class="narrow-pane">
      <form class="form" onSubmit={form.submit}>
        <TextField form={form} name="invoice" label={t.refunds.invoice} hint={t.refunds.invoiceHint} isMono isFocused />
        <Submit form={form}>{t.common.next}</Submit>
      </form>
    </Card>
  )
}

function Of({ id }: { id: string }) {
  const data = useData(async () => {
    const [invoice, refunds] = await Promise.all([get<Invoice>(`/invoices/${segment(id)}`), refundsOf(id)])
    return { invoice, parts: refundable(invoice, refunds, Date.now()) }
  }, [id])
  return (
    <Loaded of={data}>
      {({ invoice, parts }) => {
        const left = parts.filter((part) => !isZero(part.left))
        return left.length === 0 ? <Nothing invoice={invoice} hadSome={parts.length > 0} /> : <Give invoice={invoice} parts={left} />
      }}
    </Loaded>
  )
}

function Nothing({ invoice, hadSome }: { invoice: Invoice; hadSome: boolean }) {
  return (
    <Card>
      <Empty
        glyph="back"
        title={hadSome ? t.refunds.nothingLeft : t.refunds.nothingCame}
        text={hadSome ? t.refunds.nothingLeftText : t.refunds.nothingCameText}
        action={
          <a class="btn" href={href(hadSome ? `/refunds?invoice=${invoice.id}` : `/invoices/${invoice.id}`)}>
            {hadSome ? t.refunds.seeRefunds : t.refunds.seeInvoice}
          </a>
        }
      />
    </Card>
  )
}

function Give({ invoice, parts }: { invoice: Invoice; parts: Refundable[] }) {
  const first = parts.find((part) => part.excess !== null) ?? (parts[0] as Refundable)
  const form = useForm({ asset: first.asset, amount: first.excess ?? '', reason: first.excess ? 'overpaid' : '' }, async (values) => {
    const amount = typed(values.amount, DECIMALS) ?? values.amount.trim()
    const made = await post<Refund>(`/invoices/${segment(invoice.id)}/refunds`, { amount, asset: values.asset, reason: values.reason || null })
    toast(t.refunds.linkMade)
    go(`/refunds/${made.id}`)
  })
  const part = parts.find((one) => one.asset === form.values.asset) ?? first
  const symbol = symbolOf(part.asset)
  const amount = typed(form.values.amount, DECIMALS)
  const isTooMuch = amount !== null && compare(amount, part.left) > 0
  const choices = choicesOf(part)
  return (
    <div class="two">
      <Card>
        <form class="form" onSubmit={form.submit}>
          {parts.length > 1 && (
            <SelectField form={form} name="asset" label={t.refunds.whichAsset} options={parts.map(({ asset }) => [asset, t.refunds.assetOn(symbolOf(asset), networkNameOf(asset))] as const)} />
          )}
          <TextField
            form={form}
            name="amount"
            label={t.refunds.howMuch(symbol)}
            inputMode="decimal"
            hint={isTooMuch ? t.refunds.tooMuch(grouped(part.left), symbol) : t.refunds.atMost(grouped(part.left), symbol)}
            isFocused
          />
          <p class="filters">
            {choices.map(([label, value]) => (
              <button key={label} type="button" class="chip set" aria-pressed={form.values.amount === value} onClick={() => form.set('amount', value)}>
                {label}: {grouped(value)}
              </button>
            ))}
          </p>
          <SelectField
            form={form}
            name="reason"
            label={t.refunds.why}
            isOptional
            options={[['', t.refunds.notSaid], ...REASONS.map((reason) => [reason, t.refunds.reasons[reason] ?? reason] as const)]}
          />
          <Notice tone="info" glyph="link">
            {t.refunds.whatHappens}
          </Notice>
          <Submit form={form}>{amount === null || isZero(amount) ? t.refunds.makeLink : t.refunds.makeLinkFor(grouped(amount), symbol)}</Submit>
        </form>
      </Card>
      <Card title={t.refunds.invoice} beside={<InvoiceStatus status={invoice.status} />}>
        <Facts
          facts={[
            [t.refunds.price, <Money amount={invoice.amount.amount} unit={invoice.amount.currency} />],
            [t.refunds.received, <Money amount={part.received} unit={symbol} />],
            [t.refunds.taken, <Money amount={part.taken} unit={symbol} />],
            [t.refunds.left, <Money amount={part.left} unit={symbol} />],
            [t.refunds.what, invoice.description],
          ]}
        />
        <p>
          <a href={href(`/invoices/${invoice.id}`)}>{t.refunds.seeInvoice}</a>
        </p>
      </Card>
    </div>
  )
}
