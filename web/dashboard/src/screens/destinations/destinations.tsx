// Where the money arrives: what is registered now, and changes that wait.

import type { Change, List_Destination } from '#shared/api/types.ts'
import { networkName } from '#shared/chain/networks.ts'
import { get, type List } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { useOften } from '../../app/often.ts'
import { href, usePlace } from '../../app/router.ts'
import { usePending, Waiting } from '../../parts/change.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Tag } from '../../parts/tag.tsx'
import { Moment } from '../../parts/values.tsx'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'
import { isFamily } from './families.ts'
import { Destination } from './shown.tsx'

const says = setup.destinations
const LOOK_MS = 5_000

type One = List_Destination['data'][number]

export default function DestinationsScreen() {
  const { mode } = usePlace()
  const list = useData(() => get<List<One>>('/dashboard/destinations'))
  const pending = usePending()
  const past = useData(() => get<List<Change>>('/dashboard/changes', { kind: 'destination', limit: 10 }))
  const reload = () => Promise.all([list.reload(), pending.reload(), past.reload()])
  useOften(() => Promise.all([list.reload(), past.reload()]), LOOK_MS)
  const waiting = pending.value?.changes.filter((change) => change.kind === 'destination') ?? []
  return (
    <>
      <Head title={t.setup.destinations} />
      <p class="dim narrow-pane">{mode === 'live' ? says.textLive : says.textTest}</p>
      {waiting.map((change) => (
        <Waiting key={change.id} change={change} aheadMs={pending.value?.aheadMs ?? 0} title={says.changesIn(says.families[change.family ?? ''] ?? '')} says={says.meanwhile} onCancelled={reload}>
          <FromTo change={change} />
        </Waiting>
      ))}
      <Loaded of={list}>
        {({ data }) => (
          <Card title={says.now}>
            <ul class="places flush">
              {data.map((one) => (
                <Row key={one.family} one={one} />
              ))}
            </ul>
          </Card>
        )}
      </Loaded>
      {past.value && <Past changes={past.value.data.filter((change) => change.status !== 'pending')} />}
    </>
  )
}

function Row({ one }: { one: One }) {
  const names = one.networks.filter((network) => network.enabled).map((network) => networkName(network.network, network.network_name))
  const canChange = may('destinations.write') && names.length > 0 && one.pending_change === null
  return (
    <li>
      <b>{says.families[one.family] ?? one.family}</b>
      <span class="dim">{names.length === 0 ? says.notWatched : one.address === null ? says.notSet : one.family === 'bip122' ? says.eachItsOwn : names.join(', ')}</span>
      <span class="place">{one.address !== null && isFamily(one.family) && <Destination family={one.family} said={one.address} isShort />}</span>
      {one.pending_change !== null ? (
        <Tag tone="warn" glyph="clock">
          {t.changes.waiting}
        </Tag>
      ) : (
        (canChange || one.address !== null) && (
          <a class="btn" href={href(`/destinations/${one.family}`)} aria-label={`${canChange ? (one.address === null ? t.common.add : says.change) : t.common.open}: ${says.families[one.family]}`}>
            {canChange ? (one.address === null ? t.common.add : says.change) : t.common.open}
          </a>
        )
      )}
    </li>
  )
}

export function FromTo({ change }: { change: Change }) {
  const { family, from, to } = change
  if (family === null || !isFamily(family)) return null
  return (
    <div class="swap">
      <div>
        <p class="dim">{t.changes.from}</p>
        {from === null ? says.nowhere : <Destination family={family} said={from} />}
      </div>
      <Icon name="right" />
      <div>
        <p class="dim">{t.changes.to}</p>
        {to === null ? says.removed : <Destination family={family} said={to} />}
      </div>
    </div>
  )
}

function Past({ changes }: { changes: Change[] }) {
  if (changes.length === 0) return null
  return (
    <Card title={says.past}>
      <ul class="people flush">
        {changes.map((change) => (
          <li key={change.id}>
            <div>
              <Tag tone={change.status === 'effective' ? 'ok' : 'plain'} glyph={change.status === 'effective' ? 'check' : 'cross'}>
                {says.statuses[change.status] ?? change.status}
              </Tag>{' '}
              {says.families[change.family ?? ''] ?? change.family} <span class="dim">{says.askedBy(change.requested_by.email, change.cancelled_by?.email ?? null)}</span>
            </div>
            <Moment at={change.cancelled_at ?? change.effective_at} />
          </li>
        ))}
      </ul>
    </Card>
  )
}
