// Plans: what subscriptions cost, and how often.

import type { Plan } from '#shared/api/types.ts'
import { useList } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { href } from '../../app/router.ts'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { type Column, DataList } from '../../parts/list.tsx'
import { Tag } from '../../parts/tag.tsx'
import { Day } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { priceOf } from './words.ts'

export function PlanStatus({ plan }: { plan: Plan }) {
  return plan.status === 'active' ? (
    <Tag tone="ok" glyph="check">
      {t.plans.active}
    </Tag>
  ) : (
    <Tag glyph="minus">{t.plans.archived}</Tag>
  )
}

const COLUMNS: Column<Plan>[] = [
  { head: t.common.name, cell: (plan) => <b>{plan.name}</b>, isClipped: true },
  { head: t.plans.status, cell: (plan) => <PlanStatus plan={plan} /> },
  { head: t.plans.price, cell: (plan) => <span class="num">{priceOf(plan)}</span> },
  { head: t.plans.zone, cell: (plan) => plan.billing_timezone, isWide: true },
  { head: t.plans.since, cell: (plan) => <Day at={plan.created_at} />, isEnd: true },
]

export default function PlansScreen() {
  const page = useList<Plan>('/plans')
  const add = (
    <a class="btn primary" href={href('/plans/new')}>
      <Icon name="plus" />
      {t.plans.new}
    </a>
  )
  return (
    <>
      <Head title={t.nav.plans}>{may('sales.write') && add}</Head>
      <DataList
        page={page}
        label={t.nav.plans}
        idOf={(plan) => plan.id}
        to={(plan) => `/plans/${plan.id}`}
        columns={COLUMNS}
        empty={{ glyph: 'calendar', title: t.plans.none, text: t.plans.noneText, action: may('sales.write') && add }}
      />
    </>
  )
}
