import type { WebhookDelivery } from '#shared/api/types.ts'
import { Tag } from '../../parts/tag.tsx'
import { t } from '../../texts/t.ts'

/** What became of a delivery: the answer's number, or why there was none. */
export function Answer({ of }: { of: Pick<WebhookDelivery, 'status' | 'status_code'> }) {
  if (of.status === 'pending') return <Tag glyph="clock">{t.developers.deliveries.statuses.pending}</Tag>
  const isDone = of.status === 'succeeded'
  return (
    <Tag tone={isDone ? 'ok' : 'bad'} glyph={isDone ? 'check' : 'alert'}>
      {of.status_code ?? t.developers.deliveries.noAnswer}
    </Tag>
  )
}
