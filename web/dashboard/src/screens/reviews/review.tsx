// One held payment: why it is held, who sent it, and the decision.

import type { Invoice, Payment, ResolveReviewRequest } from '#shared/api/types.ts'
import { get, type List, post, segment } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { go, href } from '../../app/router.ts'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Empty, Loaded } from '../../parts/loaded.tsx'
import { Notice } from '../../parts/notice.tsx'
import { InvoiceStatus } from '../../parts/tag.tsx'
import { toast } from '../../parts/toast.tsx'
import { grouped, Money, Time, When } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { finality, onNetwork, PaymentStatus, Sender, Transaction } from '../payments/status.tsx'
import { isRisk } from './holds.ts'

const ALL = 100

export default function ReviewScreen({ id }: { id: string }) {
  const whole = useData(async () => {
    const [invoice, payments] = await Promise.all([get<Invoice>(`/invoices/${segment(id)}`), get<List<Payment>>('/payments', { invoice: id, limit: ALL })])
    return { invoice, payments: payments.data }
  }, [id])
  return (
    <>
      {whole.value === null && whole.error !== null && <Head title={t.invoices.facts.id} up={{ to: '/reviews', label: t.reviews.title }} />}
      <Loaded of={whole}>{({ invoice, payments }) => <Shown invoice={invoice} payments={payments} />}</Loaded>
    </>
  )
}

function Shown({ invoice, payments }: { invoice: Invoice; payments: Payment[] }) {
  const { review } = invoice
  const amount = `${grouped(invoice.amount.amount)} ${invoice.amount.currency}`
  const isOpen = invoice.status === 'under_review' && review != null
  return (
    <>
      <Head title={amount} beside={<InvoiceStatus status={invoice.status} />} up={{ to: '/reviews', label: t.reviews.title }}>
        <a class="btn" href={href(`/invoices/${segment(invoice.id)}`)}>
          {t.reviews.invoice}
        </a>
      </Head>
      {isOpen ? (
        <div class="two">
          <div>
            <Notice tone={isRisk(review.hold) ? 'bad' : 'warn'} glyph={isRisk(review.hold) ? 'alert' : 'eye'} title={t.reviews.holds[review.hold]?.title ?? review.hold}>
              {t.reviews.holds[review.hold]?.text}
            </Notice>
            <Senders payments={payments} />
            <Decision invoice={invoice} amount={amount} hold={review.hold} />
          </div>
          <div>
            <Card title={t.invoices.facts.title}>
              <dl class="facts">
                <div>
                  <dt>{t.reviews.since}</dt>
                  <dd>
                    <When at={review.opened_at} />
                  </dd>
                </div>
                <div>
                  <dt>{t.reviews.screening}</dt>
                  <dd>{t.reviews.lists[review.hold] ?? t.reviews.noList}</dd>
                </div>
                {invoice.description && (
                  <div>
                    <dt>{t.invoices.facts.what}</dt>
                    <dd>{invoice.description}</dd>
                  </div>
                )}
                {invoice.customer_ref && (
                  <div>
                    <dt>{t.invoices.facts.customer}</dt>
                    <dd>{invoice.customer_ref}</dd>
                  </div>
                )}
              </dl>
            </Card>
          </div>
        </div>
      ) : (
        <Card>
          <Empty glyph="check" title={t.reviews.decided} text={t.reviews.decidedText} />
        </Card>
      )}
    </>
  )
}

function Senders({ payments }: { payments: Payment[] }) {
  return (
    <Card title={t.reviews.senders}>
      <div class="flush scroll">
        <table class="list-table" aria-label={t.reviews.senders}>
          <thead>
            <tr>
              <th scope="col" class="r">
                {t.invoices.amount}
              </th>
              <th scope="col">{t.invoices.status}</th>
              <th scope="col">{t.payments.from}</th>
              <th scope="col">{t.payments.settled}</th>
              <th scope="col" class="r">
                {t.invoices.time}
              </th>
            </tr>
          </thead>
          <tbody>
            {payments.map((payment) => (
              <tr key={payment.id}>
                <td class="r">
                  <Money amount={payment.amount} unit={payment.symbol} />
                </td>
                <td>
                  <PaymentStatus status={payment.status} />
                </td>
                <td>
                  <Sender from={payment.from} />{' '}
                  <span class="dim">
                    <Transaction network={payment.network} hash={payment.tx_hash} isLink={payment.livemode} />
                  </span>
                </td>
                <td>
                  {finality(payment.finality)} <span class="dim">{onNetwork(payment.network)}</span>
                </td>
                <td class="r">
                  <Time at={payment.first_seen_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  )
}

/** One reason for both ways; the button says which. */
function Decision({ invoice, amount, hold }: { invoice: Invoice; amount: string; hold: string }) {
  const said = t.reviews
  const form = useForm({ decision: 'reject', reason: '' }, async ({ decision, reason }) => {
    const request: ResolveReviewRequest = { decision: decision === 'accept' ? 'accept' : 'reject', reason }
    await post<Invoice>(`/invoices/${segment(invoice.id)}/resolve_review`, request, { says: said.confirms(amount) })
    toast(decision === 'accept' ? said.accepted : said.rejected)
    go(`/invoices/${segment(invoice.id)}`)
  })
  if (!may('reviews.reject')) return <Notice tone="plain">{said.viewer}</Notice>
  const mayAccept = may('reviews.accept')
  const isAccepting = form.values.decision === 'accept'
  return (
    <Card title={said.decide}>
      <form class="form" onSubmit={form.submit}>
        <fieldset class="picks" aria-label={said.decide}>
          <label class="tick">
            <input type="radio" name="decision" value="reject" checked={!isAccepting} onChange={() => form.set('decision', 'reject')} />
            <span>
              <b>{said.reject}</b>
              <span class="dim block">{said.rejectText}</span>
            </span>
          </label>
          <label class="tick">
            <input type="radio" name="decision" value="accept" checked={isAccepting} disabled={!mayAccept} onChange={() => form.set('decision', 'accept')} />
            <span>
              <b>{said.accept}</b>
              <span class="dim block">{mayAccept ? said.acceptText : said.mayNotAccept}</span>
            </span>
          </label>
        </fieldset>
        {isAccepting && isRisk(hold) && (
          <Notice tone="bad" title={said.riskTitle}>
            {said.riskText}
          </Notice>
        )}
        <TextField form={form} name="reason" label={said.reason} hint={said.reasonHint} rows={2} maxLength={500} />
        <Submit form={form} isDanger={!isAccepting} needsPasskey={isAccepting && invoice.livemode}>
          {isAccepting ? said.acceptButton(amount) : said.rejectButton}
        </Submit>
      </form>
    </Card>
  )
}
