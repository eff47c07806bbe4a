// Customers: those who subscribe.

import type { Customer } from '#shared/api/types.ts'
import { get, type List } from '../../api/client.ts'
import { ROWS, useData } from '../../api/data.ts'
import { gather } from '../../api/gather.ts'
import { may } from '../../api/session.ts'
import { href, usePlace } from '../../app/router.ts'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { type Column, DataList, Filters, SearchFilter } from '../../parts/list.tsx'
import { Notice } from '../../parts/notice.tsx'
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

/** So many pages are looked through at once. */
const PAGES = 20

/** Whether what was typed stands in the name, the address, the id or the metadata, in whatever case. */
export function isLike({ name, email, id, metadata }: Customer, text: string): boolean {
  const wanted = text.toLowerCase()
  return [name, email, id, ...Object.values(metadata)].some((one) => one?.toLowerCase().includes(wanted))
}

/** The server's list has no filter by name, and keeps addresses encrypted: the page itself looks through it. */
function ask(text: string | null, cursor: string | null): Promise<List<Customer>> {
  if (text === null) return get<List<Customer>>('/customers', { limit: ROWS, cursor })
  return gather<Customer>('/customers', {}, (one) => isLike(one, text), { cursor, pages: PAGES, enough: ROWS })
}

export default function CustomersScreen() {
  const { query } = usePlace()
  const [text, cursor] = [query.get('find'), query.get('cursor')]
  const page = { ...useData(() => ask(text, cursor), [text, cursor]), isFiltered: text !== null }
  const add = (
    <a class="btn primary" href={href('/customers/new')}>
      <Icon name="plus" />
      {t.customers.new}
    </a>
  )
  return (
    <>
      <Head title={t.nav.customers}>{may('sales.write') && add}</Head>
      <Filters>
        <SearchFilter name="find" label={t.customers.find} />
      </Filters>
      {text !== null && page.value?.data.length === 0 && page.value.next_cursor !== null && <Notice tone="info">{t.customers.notYet}</Notice>}
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
