// What waits for a person's decision: payments that were held.

import type { Invoice } from '#shared/api/types.ts'
import { useList } from '../../api/data.ts'
import { Head } from '../../parts/head.tsx'
import { DataList } from '../../parts/list.tsx'
import { Tag } from '../../parts/tag.tsx'
import { Money, Time } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { isRisk } from './holds.ts'

export default function ReviewsScreen() {
  const page = useList<Invoice>('/invoices', [], { status: 'under_review' })
  return (
    <>
      <Head title={t.reviews.title} />
      <p class="dim">{t.reviews.text}</p>
      <DataList
        page={page}
        label={t.reviews.title}
        idOf={(invoice) => invoice.id}
        to={(invoice) => `/reviews/${invoice.id}`}
        empty={{ glyph: 'check', title: t.reviews.empty, text: t.reviews.emptyText }}
        columns={[
          { head: t.invoices.amount, isEnd: true, cell: ({ amount }) => <Money amount={amount.amount} unit={amount.currency} /> },
          { head: t.reviews.why, cell: ({ review }) => <Why hold={review?.hold} /> },
          { head: t.invoices.what, isClipped: true, cell: ({ description }) => description },
          { head: t.invoices.customer, isWide: true, cell: ({ customer_ref }) => <span class="dim ref">{customer_ref}</span> },
          { head: t.reviews.since, isEnd: true, cell: ({ review, created_at }) => <Time at={review?.opened_at ?? created_at} /> },
        ]}
      />
    </>
  )
}

export function Why({ hold }: { hold: string | undefined }) {
  if (hold === undefined) return null
  return (
    <Tag tone={isRisk(hold) ? 'bad' : 'warn'} glyph={isRisk(hold) ? 'alert' : 'eye'}>
      {t.reviews.short[hold] ?? hold}
    </Tag>
  )
}
