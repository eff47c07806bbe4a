// All invoices, newest first.

import { networkName } from '#shared/chain/networks.ts'
import type { Invoice } from '#shared/api/types.ts'
import { useList } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { href } from '../../app/router.ts'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ChoiceFilter, DataList, DayFilter, Filters, SearchFilter } from '../../parts/list.tsx'
import { InvoiceStatus } from '../../parts/tag.tsx'
import { Money, networkOf, symbolOf, Time } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'

export default function InvoicesScreen() {
  const page = useList<Invoice>('/invoices', ['status', 'customer_ref', 'from', 'to'])
  const create = may('sales.write') && (
    <a class="btn primary" href={href('/invoices/new')}>
      <Icon name="plus" />
      {t.invoices.create}
    </a>
  )
  return (
    <>
      <Head title={t.invoices.title}>{create}</Head>
      <Filters>
        <SearchFilter name="customer_ref" label={t.invoices.customerRef} />
        <ChoiceFilter name="status" label={t.invoices.status} options={Object.entries(t.statuses)} />
        <DayFilter name="from" label={t.invoices.from} />
        <DayFilter name="to" label={t.invoices.to} />
      </Filters>
      <DataList
        page={page}
        label={t.invoices.title}
        idOf={(invoice) => invoice.id}
        to={(invoice) => `/invoices/${invoice.id}`}
        empty={{ glyph: 'doc', title: t.invoices.empty, text: t.invoices.emptyText, action: create }}
        columns={[
          { head: t.invoices.amount, isEnd: true, cell: ({ amount }) => <Money amount={amount.amount} unit={amount.currency} /> },
          { head: t.invoices.status, cell: ({ status }) => <InvoiceStatus status={status} /> },
          { head: t.invoices.what, isClipped: true, cell: ({ description }) => description },
          { head: t.invoices.customer, isWide: true, cell: ({ customer_ref }) => <span class="dim ref">{customer_ref}</span> },
          { head: t.invoices.paidWith, isWide: true, cell: ({ amounts_received }) => <PaidWith assets={amounts_received.map((one) => one.asset)} /> },
          { head: t.invoices.made, isEnd: true, cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
    </>
  )
}

function PaidWith({ assets }: { assets: string[] }) {
  const [asset] = assets
  if (asset === undefined) return <span class="dim">{t.invoices.notYet}</span>
  const network = networkOf(asset)
  return (
    <span class="nowrap">
      {symbolOf(asset)} <span class="dim">{assets.length > 1 ? t.invoices.andMore(assets.length - 1) : t.invoices.on(networkName(network, network))}</span>
    </span>
  )
}
