// The audit log: who did what, when, from where. Nothing changes it.

import type { List_AuditEvent, Member } from '#shared/api/types.ts'
import { get, type List } from '../../api/client.ts'
import { useData, useList } from '../../api/data.ts'
import { filter, usePlace } from '../../app/router.ts'
import { Head } from '../../parts/head.tsx'
import { ChoiceFilter, DataList, Filters, SearchFilter } from '../../parts/list.tsx'
import { Tag } from '../../parts/tag.tsx'
import { When } from '../../parts/values.tsx'
import '../../style/setup.css'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'
import { browserOf } from '../security/browser.ts'

const says = setup.audit
type Event = List_AuditEvent['data'][number]

export default function AuditScreen() {
  const page = useList<Event>('/dashboard/audit_events', ['action', 'actor', 'target', 'from', 'to'])
  const members = useData(() => get<List<Member>>('/dashboard/members', { limit: 100 }))
  const people = (members.value?.data ?? []).map((member): [string, string] => [member.id, member.email])
  return (
    <>
      <Head title={t.setup.audit} />
      <p class="dim narrow-pane">{says.text}</p>
      <Filters>
        <SearchFilter name="target" label={says.find} />
        <ChoiceFilter name="action" label={says.action} options={Object.entries(says.actions)} />
        <ChoiceFilter name="actor" label={says.who} options={[...people, ['cli', says.actors.cli], ['system', says.actors.system]]} />
        <DayFilter name="from" label={says.from} />
        <DayFilter name="to" label={says.to} />
      </Filters>
      <DataList
        page={page}
        label={t.setup.audit}
        idOf={(event) => event.id}
        columns={[
          { head: says.what, cell: (event) => <What event={event} /> },
          {
            head: says.mode,
            cell: (event) => event.mode && <Tag tone={event.mode === 'live' ? 'ok' : 'plain'}>{event.mode === 'live' ? t.common.live : t.common.test}</Tag>,
          },
          { head: says.who, cell: (event) => event.actor.label },
          { head: says.where, cell: (event) => [event.ip, browserOf(event.user_agent)].filter(Boolean).join(', '), isWide: true },
          { head: says.when, cell: (event) => <When at={event.created_at} />, isEnd: true },
        ]}
        empty={{ glyph: 'eye', title: says.none, text: says.noneText }}
      />
    </>
  )
}

function What({ event }: { event: Event }) {
  const details = Object.entries(event.details)
  return (
    <>
      <b>{says.actions[event.action] ?? event.action}</b>
      <span class="dim block">
        <code class="mono">{event.target.id}</code>
      </span>
      {details.length > 0 && (
        <details>
          <summary class="dim">{says.details}</summary>
          <dl class="facts words">
            {details.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
              </div>
            ))}
            {event.request_id && (
              <div>
                <dt>{says.request}</dt>
                <dd class="mono">{event.request_id}</dd>
              </div>
            )}
          </dl>
        </details>
      )}
    </>
  )
}

/** A day, as the browser lets one choose it; days are UTC's. */
function DayFilter({ name, label }: { name: string; label: string }) {
  const { query } = usePlace()
  const value = query.get(name)
  return (
    <label class={`chip ${value === null ? '' : 'set'}`}>
      {label}
      <input type="date" value={value ?? ''} onChange={(event) => filter({ [name]: event.currentTarget.value || null })} />
    </label>
  )
}
