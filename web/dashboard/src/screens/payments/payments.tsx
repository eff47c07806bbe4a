// Transfers that were found for invoices, newest first; those a network took back among them.

import type { Payment } from '#shared/api/types.ts'
import { useList } from '../../api/data.ts'
import { href } from '../../app/router.ts'
import { Head } from '../../parts/head.tsx'
import { ChoiceFilter, DataList, Filters, SearchFilter } from '../../parts/list.tsx'
import { Money, Time } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { finality, onNetwork, PaymentStatus, Sender, Transaction } from './status.tsx'
import { PaymentTabs } from './tabs.tsx'

export default function PaymentsScreen() {
  const page = useList<Payment>('/payments', ['status', 'tx_hash'])
  return (
    <>
      <Head title={t.payments.title} />
      <PaymentTabs />
      <Filters>
        <SearchFilter name="tx_hash" label={t.payments.byTransaction} />
        <ChoiceFilter name="status" label={t.invoices.status} options={Object.entries(t.payments.statuses)} />
      </Filters>
      <DataList
        page={page}
        label={t.payments.title}
        idOf={(payment) => payment.id}
        to={(payment) => `/invoices/${payment.invoice}`}
        empty={{ glyph: 'pay', title: t.payments.empty, text: t.payments.emptyText, action: <a href={href('/invoices')}>{t.invoices.title}</a> }}
        columns={[
          { head: t.invoices.amount, isEnd: true, cell: (payment) => <Money amount={payment.amount} unit={payment.symbol} /> },
          { head: t.invoices.status, cell: (payment) => <PaymentStatus status={payment.status} /> },
          {
            head: t.payments.settled,
            cell: (payment) => (
              <>
                {payment.status !== 'reversed' && finality(payment.finality)} <span class="dim">{onNetwork(payment.network)}</span>
              </>
            ),
          },
          { head: t.payments.from, isWide: true, cell: (payment) => <Sender from={payment.from} /> },
          { head: t.payments.hash, isWide: true, cell: (payment) => <Transaction network={payment.network} hash={payment.tx_hash} isLink={payment.livemode} /> },
          { head: t.invoices.time, isEnd: true, cell: (payment) => <Time at={payment.first_seen_at} /> },
        ]}
      />
    </>
  )
}
