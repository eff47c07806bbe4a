// Refunds: what must not be paid, what waits for the merchant's wallet, what waits for its payer, what is done.

import type { Refund, RefundStatus as Status } from '#shared/api/types.ts'
import { get, type List } from '../../api/client.ts'
import { useData, useList } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { useNow } from '../../app/now.ts'
import { href, usePlace } from '../../app/router.ts'
import { Card, Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { type Column, DataList, Filters, SearchFilter, Tabs } from '../../parts/list.tsx'
import { Empty, Loaded } from '../../parts/loaded.tsx'
import { networkNameOf } from '../../parts/network.ts'
import { Money, symbolOf, Time } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import '../../style/refunds.css'
import { hasEnded, reasonOf, RefundStatus, StatusGlyph, STATUSES, toldStatus } from './status.tsx'

/** How many of each status the board shows. */
const SHOWN = 5

const to = (refund: Refund) => `/refunds/${refund.id}`

export default function RefundsScreen() {
  const { query } = usePlace()
  const isBoard = !query.has('status') && !query.has('invoice')
  const tabs = [{ to: '/refunds', label: t.refunds.board }, ...STATUSES.map((status) => ({ to: `/refunds?status=${status}`, label: t.refunds.statuses[status] ?? status }))]
  return (
    <>
      <Head title={t.nav.refunds}>
        {may('refunds.write') && (
          <a class="btn primary" href={href('/refunds/new')}>
            <Icon name="plus" />
            {t.refunds.new}
          </a>
        )}
      </Head>
      <Tabs label={t.refunds.byStatus} tabs={tabs} />
      {isBoard ? <Board /> : <All />}
    </>
  )
}

const first = (status: Status) => get<List<Refund>>('/refunds', { status, limit: SHOWN })

function Board() {
  const board = useData(async () => Object.fromEntries(await Promise.all(STATUSES.map(async (status) => [status, await first(status)] as const))))
  return (
    <Loaded of={board}>
      {(lists) => {
        const filled = STATUSES.filter((status) => (lists[status]?.data.length ?? 0) > 0)
        if (filled.length === 0) {
          return (
            <Card>
              <Empty glyph="back" title={t.refunds.none} text={t.refunds.noneText} />
            </Card>
          )
        }
        return filled.map((status) => <Lane key={status} status={status} list={lists[status] as List<Refund>} />)
      }}
    </Loaded>
  )
}

function Lane({ status, list }: { status: Status; list: List<Refund> }) {
  const now = useNow()
  return (
    <Card title={t.refunds.statuses[status] ?? status} beside={list.next_cursor !== null && <a href={href(`/refunds?status=${status}`)}>{t.refunds.all}</a>}>
      <p class="dim">{t.refunds.means[status]}</p>
      <ul class="need flush">
        {list.data.map((refund) => (
          <li key={refund.id} data-row="" class="lane">
            <StatusGlyph status={toldStatus(refund, now)} />
            <p>
              <a class="cover" href={href(to(refund))}>
                <Money amount={refund.amount} unit={symbolOf(refund.asset)} /> <span class="dim">{t.refunds.on(networkNameOf(refund.payout?.asset ?? refund.asset))}</span>
              </a>
              {hasEnded(refund, now) && <span class="sub">{t.refunds.statuses.ended}</span>}
              {reasonOf(refund) !== null && <span class="dim sub">{reasonOf(refund)}</span>}
            </p>
            <Time at={refund.sent_at ?? refund.cancelled_at ?? refund.claimed_at ?? refund.created_at} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

const columns = (now: number): Column<Refund>[] => [
  { head: t.refunds.amount, cell: (refund) => <Money amount={refund.amount} unit={symbolOf(refund.asset)} />, isEnd: true },
  { head: t.refunds.status, cell: (refund) => <RefundStatus status={toldStatus(refund, now)} /> },
  { head: t.refunds.why, cell: (refund) => reasonOf(refund) ?? <span class="dim">{t.refunds.notSaid}</span>, isClipped: true },
  { head: t.refunds.network, cell: (refund) => networkNameOf(refund.payout?.asset ?? refund.asset), isWide: true },
  { head: t.refunds.made, cell: (refund) => <Time at={refund.created_at} />, isEnd: true },
]

function All() {
  const page = useList<Refund>('/refunds', ['status', 'invoice'])
  const now = useNow()
  return (
    <>
      <Filters>
        <SearchFilter name="invoice" label={t.refunds.ofInvoice} />
      </Filters>
      <DataList page={page} label={t.nav.refunds} idOf={(refund) => refund.id} to={to} columns={columns(now)} empty={{ glyph: 'back', title: t.refunds.none, text: t.refunds.noneText }} />
    </>
  )
}
