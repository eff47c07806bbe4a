// The periods of a subscription, read from the events that renewed it.

import type { Subscription } from '#shared/api/types.ts'

/** `subscription.renewed`: a period was paid, by its invoice or, where there is none, by prepaid credit alone. */
export interface Renewal {
  created_at: string
  data: { object: Pick<Subscription, 'id' | 'current_period_start' | 'current_period_end'>; invoice?: { id: string } | null }
}

export interface PaidPeriod {
  from: string
  to: string
  /** What paid it: ids of invoices, null for credit. More than one where a payment was taken back and made again. */
  by: (string | null)[]
}

/** The paid periods of one subscription, newest first, out of everybody's renewals, newest first. */
export function periodsOf(id: string, renewals: readonly Renewal[]): PaidPeriod[] {
  const found = new Map<string, PaidPeriod>()
  for (const { data } of renewals) {
    if (data.object.id !== id) continue
    const [from, to] = [data.object.current_period_start, data.object.current_period_end]
    const by = data.invoice?.id ?? null
    const known = found.get(from)
    if (known === undefined) found.set(from, { from, to, by: [by] })
    else if (!known.by.includes(by)) known.by.push(by)
  }
  return [...found.values()].sort((a, b) => Date.parse(b.from) - Date.parse(a.from))
}
