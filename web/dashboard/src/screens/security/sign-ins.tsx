// Who came in as this person, and who tried to.

import type { List_AuditEvent } from '#shared/api/types.ts'
import { useList } from '../../api/data.ts'
import { DataList } from '../../parts/list.tsx'
import { Tag } from '../../parts/tag.tsx'
import { Moment } from '../../parts/values.tsx'
import { setup } from '../../texts/setup.ts'
import { browserOf } from './browser.ts'

const says = setup.security

export function SignIns() {
  const page = useList<List_AuditEvent['data'][number]>('/dashboard/sign_ins')
  return (
    <>
      <h2>{says.signIns}</h2>
      <p class="dim">{says.signInsText}</p>
      <DataList
        page={page}
        label={says.signIns}
        idOf={(event) => event.id}
        columns={[
          { head: says.when, cell: (event) => <Moment at={event.created_at} /> },
          {
            head: says.result,
            cell: (event) =>
              event.action === 'sign_in.succeeded' ? (
                <Tag tone="ok" glyph="check">
                  {says.came}
                </Tag>
              ) : (
                <Tag tone="warn" glyph="alert">
                  {says.refused}
                </Tag>
              ),
          },
          { head: says.browser, cell: (event) => browserOf(event.user_agent) ?? says.unknownBrowser },
          { head: says.from, cell: (event) => event.ip, isEnd: true },
        ]}
        empty={{ glyph: 'key', title: says.noSignIns }}
      />
    </>
  )
}
