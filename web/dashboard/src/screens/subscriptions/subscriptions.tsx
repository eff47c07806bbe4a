// Subscriptions: who is on which plan, and which need somebody.

import type { Customer, Plan, Subscription } from '#shared/api/types.ts'
import { get, type List } from '../../api/client.ts'
import { useData, useList } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { href } from '../../app/router.ts'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ChoiceFilter, type Column, DataList, Filters, SearchFilter } from '../../parts/list.tsx'
import { t } from '../../texts/t.ts'
import { nameOf } from '../customers/customers.tsx'
import { STATUSES, SubscriptionStatus } from './status.tsx'
import { ZonedDay } from './zoned-day.tsx'

const PAGE = 100

export default function SubscriptionsScreen() {
  const page = useList<Subscription>('/subscriptions', ['status', 'customer'])
  // Names for the ids: those of the newest; others show their ids.
  const names = useData(async () => {
    const [plans, customers] = await Promise.all([get<List<Plan>>('/plans', { limit: PAGE }), get<List<Customer>>('/customers', { limit: PAGE })])
    return { plans: new Map(plans.data.map((one) => [one.id, one])), customers: new Map(customers.data.map((one) => [one.id, nameOf(one)])) }
  })
  const planOf = (one: Subscription) => names.value?.plans.get(one.plan)
  const columns: Column<Subscription>[] = [
    { head: t.customers.one, cell: (one) => <b>{names.value?.customers.get(one.customer) ?? one.customer}</b>, isClipped: true },
    { head: t.subscriptions.status, cell: (one) => <SubscriptionStatus status={one.status} /> },
    { head: t.plans.one, cell: (one) => planOf(one)?.name ?? one.plan },
    {
      head: t.subscriptions.next,
      cell: (one) =>
        one.next_invoice_at === null ? <span class="dim">{t.subscriptions.noNext}</span> : <ZonedDay at={one.next_invoice_at} zone={planOf(one)?.billing_timezone ?? 'UTC'} />,
      isEnd: true,
    },
  ]
  const add = (
    <a class="btn primary" href={href('/subscriptions/new')}>
      <Icon name="plus" />
      {t.subscriptions.new}
    </a>
  )
  return (
    <>
      <Head title={t.nav.subscriptions}>{may('sales.write') && add}</Head>
      <Filters>
        <SearchFilter name="customer" label={t.subscriptions.ofCustomer} />
        <ChoiceFilter name="status" label={t.subscriptions.status} options={STATUSES.map((status) => [status, t.subscriptions.statuses[status] ?? status] as const)} />
      </Filters>
      <DataList
        page={page}
        label={t.nav.subscriptions}
        idOf={(one) => one.id}
        to={(one) => `/subscriptions/${one.id}`}
        columns={columns}
        empty={{ glyph: 'loop', title: t.subscriptions.none, text: t.subscriptions.noneText, action: may('sales.write') && add }}
      />
    </>
  )
}
