import type { WebhookDelivery } from '#shared/api/types.ts'
import { Tag } from '../../parts/tag.tsx'
import { setup } from '../../texts/setup.ts'

/** What became of a delivery: the answer's number, or why there was none. */
export function Answer({ of }: { of: Pick<WebhookDelivery, 'status' | 'status_code'> }) {
  if (of.status === 'pending') return <Tag glyph="clock">{setup.developers.deliveries.statuses.pending}</Tag>
  const isDone = of.status === 'succeeded'
  return (
    <Tag tone={isDone ? 'ok' : 'bad'} glyph={isDone ? 'check' : 'alert'}>
      {of.status_code ?? setup.developers.deliveries.noAnswer}
    </Tag>
  )
}
