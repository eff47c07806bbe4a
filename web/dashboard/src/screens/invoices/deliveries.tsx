// What the merchant's server was told of this invoice, and saying it again.

import type { WebhookDelivery } from '#shared/api/types.ts'
import { post, segment } from '../../api/client.ts'
import { may } from '../../api/session.ts'
import { Action } from '../../parts/action.tsx'
import { Card } from '../../parts/head.tsx'
import { Tag } from '../../parts/tag.tsx'
import { toast } from '../../parts/toast.tsx'
import { Time } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'

function Answer({ delivery: { status, status_code, attempt, error } }: { delivery: WebhookDelivery }) {
  const said = t.invoices.deliveries
  if (status === 'succeeded')
    return (
      <Tag tone="ok" glyph="check">
        {said.answer(status_code, attempt)}
      </Tag>
    )
  if (status === 'failed')
    return (
      <span title={error ?? undefined}>
        <Tag tone="bad" glyph="alert">
          {status_code === null ? said.failed : said.answer(status_code, attempt)}
        </Tag>
      </span>
    )
  return (
    <Tag tone="plain" glyph="clock">
      {attempt > 0 && status_code !== null ? said.answer(status_code, attempt) : said.waiting}
    </Tag>
  )
}

export function Deliveries({ deliveries, changed }: { deliveries: WebhookDelivery[]; changed: () => void }) {
  const said = t.invoices.deliveries
  const mayReplay = may('webhooks.replay')
  const replay = async (id: string) => {
    await post(`/webhook_deliveries/${segment(id)}/replay`)
    toast(said.sentAgain)
    changed()
  }
  return (
    <Card title={said.title}>
      {deliveries.length === 0 ? (
        <p class="dim">{said.none}</p>
      ) : (
        <div class="flush scroll">
          <table class="list-table" aria-label={said.title}>
            <thead>
              <tr>
                <th scope="col">{said.event}</th>
                <th scope="col">{said.status}</th>
                <th scope="col" class="r">
                  {t.invoices.time}
                </th>
                {mayReplay && (
                  <th scope="col">
                    <span class="sr">{said.again}</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {deliveries.map((delivery) => (
                <tr key={delivery.id}>
                  <td>
                    <code>{delivery.event_type}</code>
                  </td>
                  <td>
                    <Answer delivery={delivery} />
                  </td>
                  <td class="r">
                    <Time at={delivery.attempted_at ?? delivery.created_at} />
                  </td>
                  {mayReplay && (
                    <td class="r">
                      <Action run={() => replay(delivery.id)}>{said.again}</Action>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  )
}
