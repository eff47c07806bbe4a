// Deliveries: how many arrived by day, and what has not arrived yet.

import type { WebhookDelivery } from '#shared/api/types.ts'
import { utcDay } from '#shared/time.ts'
import type { Point } from '../../parts/chart.tsx'
import { setup } from '../../texts/setup.ts'

const DAY_MS = 86_400_000

/** The deliveries of the last `days` days by UTC day, days without any too. */
export function byDay(deliveries: Pick<WebhookDelivery, 'created_at' | 'status'>[], nowMs: number, days: number): Point[] {
  const today = Math.floor(nowMs / DAY_MS)
  return Array.from({ length: days }, (_, at) => {
    const day = today - days + 1 + at
    const those = deliveries.filter((one) => Math.floor(Date.parse(one.created_at) / DAY_MS) === day)
    const failed = those.filter((one) => one.status === 'failed').length
    return {
      label: utcDay(new Date(day * DAY_MS)),
      size: those.length,
      text: String(those.length),
      more: failed === 0 ? '' : setup.developers.deliveries.ofThemFailed(failed),
      isOpen: day === today,
    }
  })
}

/** Of each event whose last try failed, that try, in the order in which the events happened: their ids are ordered by time. The deliveries come newest first. */
export function notArrived<T extends Pick<WebhookDelivery, 'event' | 'status'>>(deliveries: T[]): T[] {
  const last = new Map<string, T>()
  for (const one of deliveries) if (one.status !== 'pending' && !last.has(one.event)) last.set(one.event, one)
  return [...last.values()].filter((one) => one.status === 'failed').sort((a, b) => (a.event < b.event ? -1 : 1))
}
