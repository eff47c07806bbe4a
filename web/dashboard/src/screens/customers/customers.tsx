// Customers: those who subscribe.

import type { Customer } from '#shared/api/types.ts'
import { useList } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { href } from '../../app/router.ts'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { type Column, DataList } from '../../parts/list.tsx'
import { Day } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'

/** What a customer is called: who gave no name goes by the address, or by the id. */
export const nameOf = (customer: Customer) => customer.name ?? customer.email ?? customer.id

const COLUMNS: Column<Customer>[] = [
  { head: t.common.name, cell: (customer) => nameOf(customer), isClipped: true },
  { head: t.common.email, cell: (customer) => customer.email ?? <span class="dim">{t.customers.noEmail}</span> },
  { head: t.customers.since, cell: (customer) => <Day at={customer.created_at} /> },
  { head: t.customers.one, cell: (customer) => <code>{customer.id}</code>, isWide: true, isEnd: true },
]

export default function CustomersScreen() {
  const page = useList<Customer>('/customers')
  const add = (
    <a class="btn primary" href={href('/customers/new')}>
      <Icon name="plus" />
      {t.customers.new}
    </a>
  )
  return (
    <>
      <Head title={t.nav.customers}>{may('sales.write') && add}</Head>
      <DataList
        page={page}
        label={t.nav.customers}
        idOf={(customer) => customer.id}
        to={(customer) => `/customers/${customer.id}`}
        columns={COLUMNS}
        empty={{ glyph: 'people', title: t.customers.none, text: t.customers.noneText, action: may('sales.write') && add }}
      />
    </>
  )
}
