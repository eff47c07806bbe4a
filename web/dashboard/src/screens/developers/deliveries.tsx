// The log of webhooks: what was sent, and what the merchant's server answered.

import type { MerchantSettings, WebhookDelivery } from '#shared/api/types.ts'
import { get } from '../../api/client.ts'
import { useData, useList } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { href } from '../../app/router.ts'
import { Chart } from '../../parts/chart.tsx'
import { Card } from '../../parts/head.tsx'
import { ChoiceFilter, DataList, Filters, SearchFilter } from '../../parts/list.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Time } from '../../parts/values.tsx'
import { setup } from '../../texts/setup.ts'
import { Answer } from './answer.tsx'
import { byDay, notArrived } from './health.ts'
import { latest } from './latest.ts'
import { SendFailed } from './send-failed.tsx'
import { DevelopersHead } from './tabs.tsx'

const says = setup.developers.deliveries
const DAYS = 7
/** The chart counts at most this many deliveries, and says so. */
const COUNTED = 300

export default function DeliveriesScreen() {
  const page = useList<WebhookDelivery>('/webhook_deliveries', ['status', 'event_type', 'invoice'])
  return (
    <>
      <DevelopersHead />
      <Health onSent={() => void page.reload()} />
      <Filters>
        <SearchFilter name="invoice" label={says.findInvoice} />
        <ChoiceFilter name="status" label={says.result} options={Object.entries(says.statuses)} />
        <ChoiceFilter name="event_type" label={says.event} options={says.types.map((type) => [type, type])} />
      </Filters>
      <DataList
        page={page}
        label={says.title}
        idOf={(one) => one.id}
        to={(one) => `/developers/events/${one.event}`}
        columns={[
          { head: says.event, cell: (one) => <code class="mono">{one.event_type}</code> },
          { head: says.answer, cell: (one) => <Answer of={one} /> },
          { head: says.invoice, cell: (one) => (one.invoice ? <code class="mono">{one.invoice}</code> : null) },
          { head: says.tries, cell: (one) => one.attempt, isWide: true },
          { head: says.sent, cell: (one) => <Time at={one.attempted_at ?? one.created_at} />, isEnd: true },
        ]}
        empty={{
          glyph: 'bell',
          title: says.none,
          text: says.noneText,
          action: (
            <a class="btn" href={href('/developers/webhooks')}>
              {says.setUrl}
            </a>
          ),
        }}
      />
    </>
  )
}

function Health({ onSent }: { onSent: () => void }) {
  const health = useData(async () => {
    const [deliveries, settings] = await Promise.all([latest(COUNTED), get<MerchantSettings>('/merchant/settings')])
    return { deliveries, url: settings.webhook_url }
  })
  return (
    <Loaded of={health}>
      {({ deliveries, url }) => {
        const [newest] = deliveries.filter((one) => one.status !== 'pending')
        return (
          <>
            {url === null && (
              <Notice
                tone="warn"
                title={says.noUrl}
                action={
                  <a class="btn" href={href('/developers/webhooks')}>
                    {says.setUrl}
                  </a>
                }
              >
                {says.noUrlText}
              </Notice>
            )}
            {url !== null && newest?.status === 'failed' && (
              <Notice tone="bad" title={says.failing}>
                {says.failingText}
              </Notice>
            )}
            {deliveries.length > 0 && (
              <Card title={says.health(DAYS)}>
                <div>
                  <Chart title={says.perDay} unit={says.unit} points={byDay(deliveries, Date.now(), DAYS)} />
                  {deliveries.length >= COUNTED && <p class="dim">{says.counted(COUNTED)}</p>}
                  {notArrived(deliveries).length > 0 && may('webhooks.replay') && <SendFailed onSent={onSent} />}
                </div>
              </Card>
            )}
          </>
        )
      }}
    </Loaded>
  )
}
