// Payment links: addresses that make one invoice per payer.

import { useList } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { useNow } from '../../app/now.ts'
import { href } from '../../app/router.ts'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ChoiceFilter, type Column, DataList, Filters } from '../../parts/list.tsx'
import { Time } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { LinkStatus, priceOf } from './status.tsx'
import type { PaymentLink as Link } from '#shared/api/types.ts'

export default function LinksScreen() {
  const page = useList<Link>('/payment_links', ['active'])
  const now = useNow()
  const columns: Column<Link>[] = [
    { head: t.links.price, cell: (link) => <b class="num">{priceOf(link)}</b> },
    { head: t.links.status, cell: (link) => <LinkStatus link={link} now={now} /> },
    { head: t.links.what, cell: (link) => link.description ?? <span class="dim">{t.links.noDescription}</span>, isClipped: true },
    { head: t.links.paid, cell: (link) => <span class="num">{t.links.counter(link.quantity_used, link.quantity_limit)}</span>, isEnd: true },
    { head: t.links.made, cell: (link) => <Time at={link.created_at} />, isEnd: true, isWide: true },
  ]
  const add = (
    <a class="btn primary" href={href('/links/new')}>
      <Icon name="plus" />
      {t.links.new}
    </a>
  )
  return (
    <>
      <Head title={t.nav.links}>{may('sales.write') && add}</Head>
      <Filters>
        <ChoiceFilter
          name="active"
          label={t.links.status}
          options={[
            ['true', t.links.standings.on],
            ['false', t.links.standings.off],
          ]}
        />
      </Filters>
      <DataList
        page={page}
        label={t.nav.links}
        idOf={(link) => link.id}
        to={(link) => `/links/${link.id}`}
        columns={columns}
        empty={{ glyph: 'link', title: t.links.none, text: t.links.noneText, action: may('sales.write') && add }}
      />
    </>
  )
}
