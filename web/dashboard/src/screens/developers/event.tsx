// One event: every time it was sent, what the merchant's server answered, and sending it again.

import type { WebhookDelivery } from '#shared/api/types.ts'
import { get, type List, post, segment } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { useOften } from '../../app/often.ts'
import { href } from '../../app/router.ts'
import { Action } from '../../parts/action.tsx'
import { CopyField } from '../../parts/copy.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Empty, Loaded } from '../../parts/loaded.tsx'
import { toast } from '../../parts/toast.tsx'
import { Moment } from '../../parts/values.tsx'
import { setup } from '../../texts/setup.ts'
import { Answer } from './answer.tsx'

const says = setup.developers.deliveries
const LOOK_MS = 5_000
export default function EventScreen({ id }: { id: string }) {
  const list = useData(() => get<List<WebhookDelivery>>('/webhook_deliveries', { event: id, limit: 100 }), [id])
  useOften(() => void list.reload(), LOOK_MS)
  const [newest] = list.value?.data ?? []
  const replay = async () => {
    if (!newest) return
    await post(`/webhook_deliveries/${segment(newest.id)}/replay`)
    toast(says.sentAgain)
    await list.reload()
  }
  return (
    <>
      <Head title={newest?.event_type ?? says.event} up={{ to: '/developers', label: says.title }}>
        {newest && may('webhooks.replay') && (
          <Action run={replay} glyph="loop" kind="primary">
            {says.again}
          </Action>
        )}
      </Head>
      <Loaded of={list}>
        {({ data }) =>
          data.length === 0 ? (
            <Card>
              <Empty glyph="find" title={says.noEvent} text={says.noEventText} />
            </Card>
          ) : (
            <>
              <Card>
                <div class="stack">
                  <CopyField label={says.eventId} value={id} />
                  {newest?.invoice && (
                    <p>
                      {says.invoice} <a href={href(`/invoices/${newest.invoice}`)}>{newest.invoice}</a>
                    </p>
                  )}
                  <p class="dim">{says.sameId}</p>
                </div>
              </Card>
              <Payload event={id} />
              {data.map((one) => (
                <Delivery key={one.id} of={one} />
              ))}
            </>
          )
        }
      </Loaded>
    </>
  )
}

function Payload({ event }: { event: string }) {
  const sent = useData(() => get<object>(`/events/${segment(event)}`), [event])
  return (
    <Card title={says.payload}>
      <div>
        <Loaded of={sent}>
          {(value) => (
            <pre class="code" tabIndex={0} aria-label={says.payload}>
              {JSON.stringify(value, null, 2)}
            </pre>
          )}
        </Loaded>
      </div>
    </Card>
  )
}

function Delivery({ of }: { of: WebhookDelivery }) {
  return (
    <Card title={says.try(of.attempt)} beside={<Answer of={of} />}>
      <dl class="facts">
        <div>
          <dt>{says.to}</dt>
          <dd class="mono">{of.url}</dd>
        </div>
        <div>
          <dt>{says.sent}</dt>
          <dd>{of.attempted_at ? <Moment at={of.attempted_at} /> : says.notYet}</dd>
        </div>
        {of.latency_ms !== null && (
          <div>
            <dt>{says.took}</dt>
            <dd class="num">{says.ms(of.latency_ms)}</dd>
          </div>
        )}
        {of.next_attempt_at && (
          <div>
            <dt>{says.next}</dt>
            <dd>
              <Moment at={of.next_attempt_at} />
            </dd>
          </div>
        )}
      </dl>
      {(of.error !== null || of.response_body !== null) && (
        <div class="stack">
          {of.error !== null && (
            <p>
              <b>{says.why}</b> {of.error}
            </p>
          )}
          {of.response_body !== null && (
            <>
              <p>
                <b>{says.answered}</b> <span class="dim">{says.first}</span>
              </p>
              <pre class="code" tabIndex={0} aria-label={says.answered}>
                {of.response_body || says.emptyAnswer}
              </pre>
            </>
          )}
        </div>
      )}
    </Card>
  )
}
