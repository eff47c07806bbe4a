import type { WebhookDelivery } from '#shared/api/types.ts'
import { get, type List } from '../../api/client.ts'

const PAGE = 100

/** The latest deliveries: at most about so many, and none before this moment. */
export async function latest(most: number, sinceMs = 0): Promise<WebhookDelivery[]> {
  const all: WebhookDelivery[] = []
  const isSince = (one: WebhookDelivery) => Date.parse(one.created_at) >= sinceMs
  for (let cursor: string | null | undefined; all.length < most && cursor !== null; ) {
    const page: List<WebhookDelivery> = await get('/webhook_deliveries', { limit: PAGE, cursor })
    all.push(...page.data.filter(isSince))
    cursor = page.data.every(isSince) ? page.next_cursor : null
  }
  return all
}
