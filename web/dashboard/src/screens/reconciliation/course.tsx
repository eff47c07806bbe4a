// How payments go: what became of the latest invoices, and how long payments took from being seen to being paid.

import type { Invoice, Payment } from '#shared/api/types.ts'
import { span } from '#shared/time.ts'
import { get, type List, type Query } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { Chart, type Point } from '../../parts/chart.tsx'
import { Card } from '../../parts/head.tsx'
import { Empty, Loaded } from '../../parts/loaded.tsx'
import { t } from '../../texts/t.ts'
import { BooksHead } from './head.tsx'

const PAGE = 100
/** Enough to see how things go; what is older says little about today. */
const PAGES = 5
const STATUSES = ['paid', 'overpaid', 'paid_late', 'partially_paid', 'under_review', 'awaiting_payment', 'detected', 'confirming', 'expired', 'cancelled'] as const
/** Ends of the spans, in seconds; what takes longer than the last is the rest. */
export const SPANS_S = [10, 30, 60, 300, 900, 3600] as const

async function newest<T>(path: string, query: Query = {}): Promise<T[]> {
  const all: T[] = []
  let cursor: string | null = null
  for (let at = 0; at < PAGES; at++) {
    const page: List<T> = await get<List<T>>(path, { ...query, limit: PAGE, cursor })
    all.push(...page.data)
    cursor = page.next_cursor
    if (cursor === null) break
  }
  return all
}

export function outcomes(invoices: Pick<Invoice, 'status'>[]): Point[] {
  return STATUSES.flatMap((status) => {
    const count = invoices.filter((invoice) => invoice.status === status).length
    return count === 0 ? [] : [{ label: t.statuses[status] ?? status, size: count, text: String(count) }]
  })
}

/** Seconds from being seen to being credited, of those that were. */
export function waits(payments: Pick<Payment, 'first_seen_at' | 'credited_at'>[]): number[] {
  const found = payments.flatMap(({ first_seen_at, credited_at }) => (credited_at === null ? [] : [Math.max(0, Date.parse(credited_at) - Date.parse(first_seen_at)) / 1000]))
  return found.sort((a, b) => a - b)
}

export function spread(seconds: number[]): Point[] {
  const bounds = [...SPANS_S, Number.POSITIVE_INFINITY]
  return bounds.map((end, at) => {
    const begin = bounds[at - 1] ?? -1
    const count = seconds.filter((one) => one > begin && one <= end).length
    const label = end === Number.POSITIVE_INFINITY ? t.reconciliation.longer : t.reconciliation.within(span(end * 1000))
    return { label, size: count, text: String(count) }
  })
}

const middle = (sorted: number[]) => sorted[Math.floor((sorted.length - 1) / 2)] ?? 0

export default function CourseScreen() {
  const data = useData(async () => {
    const [invoices, payments] = await Promise.all([newest<Invoice>('/invoices'), newest<Payment>('/payments', { status: 'credited' })])
    return { invoices, payments }
  })
  return (
    <>
      <BooksHead />
      <Loaded of={data}>
        {({ invoices, payments }) => {
          const seconds = waits(payments)
          if (invoices.length === 0) {
            return (
              <Card>
                <Empty glyph="doc" title={t.home.noInvoices} text={t.reconciliation.courseEmpty} />
              </Card>
            )
          }
          return (
            <>
              <Card title={t.reconciliation.outcomes}>
                <p class="dim">{t.reconciliation.ofInvoices(invoices.length)}</p>
                <Chart title={t.reconciliation.outcomes} unit={t.reconciliation.invoices} of={t.reconciliation.outcome} points={outcomes(invoices)} />
              </Card>
              <Card title={t.reconciliation.waits}>
                {seconds.length === 0 ? (
                  <p class="dim">{t.reconciliation.noWaits}</p>
                ) : (
                  <>
                    <p class="dim">
                      {t.reconciliation.ofPayments(seconds.length)} {t.reconciliation.half(span(middle(seconds) * 1000))}
                    </p>
                    <Chart title={t.reconciliation.waits} unit={t.reconciliation.payments} of={t.reconciliation.took} points={spread(seconds)} />
                  </>
                )}
              </Card>
            </>
          )
        }}
      </Loaded>
    </>
  )
}
