// How the server does: networks with their endpoints, queues, mail.

import { useState } from 'preact/hooks'
import type { List_OperatedNetwork, MailTest, Queues } from '#shared/api/types.ts'
import { get, type List, post } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { useOften } from '../../app/often.ts'
import { hasMail } from '../../app/server.ts'
import { Action } from '../../parts/action.tsx'
import { Card } from '../../parts/head.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Notice, type Tone } from '../../parts/notice.tsx'
import { Time } from '../../parts/values.tsx'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'
import { OperatorHead } from './tabs.tsx'

const says = setup.operator.server
const LOOK_MS = 10_000
const HEALTH: Record<string, Tone> = { ok: 'ok', simulated: 'plain', behind: 'warn', halted: 'bad' }

type Network = List_OperatedNetwork['data'][number]

export default function ServerScreen() {
  const networks = useData(() => get<List<Network>>('/dashboard/operator/networks', { limit: 100 }))
  const queues = useData(() => get<Queues>('/dashboard/operator/queues'))
  useOften(() => Promise.all([networks.reload(), queues.reload()]), LOOK_MS)
  return (
    <>
      <OperatorHead />
      <Loaded of={networks}>
        {({ data }) => (
          <Card title={t.home.networks}>
            {data.length === 0 ? (
              <p class="dim">{says.noNetworks}</p>
            ) : (
              <ul class="people flush">
                {data.map((network) => (
                  <NetworkRow key={`${network.mode} ${network.network}`} network={network} />
                ))}
              </ul>
            )}
          </Card>
        )}
      </Loaded>
      <div class="duo">
        <Loaded of={queues}>{(value) => <QueueTable queues={value} />}</Loaded>
        <Mail />
      </div>
    </>
  )
}

function NetworkRow({ network }: { network: Network }) {
  return (
    <li>
      <div>
        <i class={`dot inline ${HEALTH[network.status] ?? 'warn'}`} /> <b>{network.network_name}</b> <span class="dim">{network.mode === 'live' ? t.common.live : t.common.test}</span>
        {network.endpoints.map((endpoint) => (
          <p key={endpoint.host} class={endpoint.error ? '' : 'dim'}>
            <code class="mono">{endpoint.host}</code> {endpoint.status} {endpoint.height !== null && endpoint.height} {endpoint.error}
          </p>
        ))}
      </div>
      <span class="dim">
        {t.home.health(network.status, network.lag_seconds)}
        {network.head_height !== null && `. ${says.head(network.head_height)}`}
        {network.final_height !== null && `, ${says.final(network.final_height)}`}
      </span>
    </li>
  )
}

function QueueTable({ queues }: { queues: Queues }) {
  return (
    <Card title={says.queues}>
      <div class="flush scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">{says.queue}</th>
              <th scope="col" class="r">
                {says.waiting}
              </th>
              <th scope="col" class="r">
                {says.oldest}
              </th>
              <th scope="col" class="r">
                {says.failed}
              </th>
            </tr>
          </thead>
          <tbody>
            {queues.queues.map((queue) => (
              <tr key={queue.queue}>
                <td>{says.names[queue.queue] ?? queue.queue}</td>
                <td class="r num">{queue.waiting}</td>
                <td class="r">{queue.oldest_due_at ? <Time at={queue.oldest_due_at} /> : t.common.none}</td>
                <td class="r num">{queue.failed_24h}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  )
}

function Mail() {
  const [tested, setTested] = useState<MailTest | null>(null)
  return (
    <Card title={says.mail}>
      <div class="stack">
        <p class="dim">{hasMail ? says.mailText : says.noMail}</p>
        {hasMail && <Action run={async () => setTested(await post<MailTest>('/dashboard/operator/mail_test'))}>{says.mailTest}</Action>}
        {tested && (
          <Notice tone={tested.status === 'sent' ? 'ok' : 'bad'} title={tested.status === 'sent' ? says.mailSent(tested.to) : says.mailFailed(tested.to)}>
            {tested.detail}
          </Notice>
        )}
      </div>
    </Card>
  )
}
