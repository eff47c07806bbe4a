// What this person was told, here and by mail.

import type { Notice } from '#shared/api/types.ts'
import { post, segment } from '../../api/client.ts'
import { useList } from '../../api/data.ts'
import { href } from '../../app/router.ts'
import { Action } from '../../parts/action.tsx'
import { Head } from '../../parts/head.tsx'
import { DataList } from '../../parts/list.tsx'
import { Tag } from '../../parts/tag.tsx'
import { Moment } from '../../parts/values.tsx'
import '../../style/setup.css'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'
import { placeOf } from './places.ts'

const says = setup.notices

export default function NoticesScreen() {
  const page = useList<Notice>('/dashboard/notices')
  const unread = page.value?.data.filter((notice) => notice.read_at === null) ?? []
  const read = async (notices: Notice[]) => {
    for (const notice of notices) await post(`/dashboard/notices/${segment(notice.id)}/read`)
    await page.reload()
  }
  return (
    <>
      <Head title={t.setup.notices}>{unread.length > 0 && <Action run={() => read(unread)}>{says.readAll}</Action>}</Head>
      <p class="dim narrow-pane">{says.text}</p>
      <DataList
        page={page}
        label={t.setup.notices}
        idOf={(notice) => notice.id}
        columns={[
          { head: says.what, cell: (notice) => <What notice={notice} /> },
          {
            head: says.state,
            cell: (notice) =>
              notice.read_at === null ? (
                <span class="acts">
                  <Tag tone="info" glyph="bell">
                    {says.fresh}
                  </Tag>
                  <button type="button" class="link" onClick={() => void read([notice])}>
                    {says.read}
                  </button>
                </span>
              ) : (
                <span class="dim">{says.wasRead}</span>
              ),
          },
          { head: says.mail, cell: (notice) => says.mails[notice.mail] ?? notice.mail, isWide: true },
          { head: says.when, cell: (notice) => <Moment at={notice.created_at} />, isEnd: true },
        ]}
        empty={{ glyph: 'bell', title: says.none, text: says.noneText }}
      />
    </>
  )
}

function What({ notice }: { notice: Notice }) {
  const text = says.kinds[notice.kind] ?? notice.kind
  const to = placeOf(notice)
  return <b>{to ? <a href={href(to)}>{text}</a> : text}</b>
}
