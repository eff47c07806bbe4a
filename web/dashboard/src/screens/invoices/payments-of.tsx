// The transfers that were found for this invoice, and how settled each is.

import type { Payment } from '#shared/api/types.ts'
import { post, segment } from '../../api/client.ts'
import { may } from '../../api/session.ts'
import { Action } from '../../parts/action.tsx'
import { Card } from '../../parts/head.tsx'
import { toast } from '../../parts/toast.tsx'
import { Money, Time } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { finality, onNetwork, PaymentStatus, Sender, Transaction } from '../payments/status.tsx'

export function PaymentsOf({ payments, changed }: { payments: Payment[]; changed: () => void }) {
  const said = t.payments
  const reverse = async (id: string) => {
    await post(`/test_helpers/payments/${segment(id)}/reverse`)
    toast(said.reverse.done)
    changed()
  }
  if (payments.length === 0) return null
  return (
    <Card title={said.title}>
      <div class="flush scroll">
        <table class="list-table" aria-label={said.title}>
          <thead>
            <tr>
              <th scope="col" class="r">
                {t.invoices.amount}
              </th>
              <th scope="col">{t.invoices.status}</th>
              <th scope="col">{said.settled}</th>
              <th scope="col" class="hide">
                {said.from}
              </th>
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
                  {payment.status !== 'reversed' && finality(payment.finality)} <span class="dim">{onNetwork(payment.network)}</span>
                </td>
                <td class="hide">
                  <Sender from={payment.from} /> <Transaction network={payment.network} hash={payment.tx_hash} isLink={payment.livemode} />
                </td>
                <td class="r">
                  <Time at={payment.first_seen_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {payments.some((payment) => !payment.livemode && payment.status !== 'reversed') && may('test_helpers') && (
        <div>
          <Action
            run={() => reverse((payments.find((payment) => payment.status !== 'reversed') as Payment).id)}
            ask={{ title: said.reverse.ask, text: said.reverse.text, yes: said.reverse.yes }}
          >
            {said.reverse.button}
          </Action>
        </div>
      )}
    </Card>
  )
}
