// The signed days of the journal: whoever keeps a copy can show later that nothing was changed.

import type { List_LedgerDigest } from '#shared/api/types.ts'
import { useList } from '../../api/data.ts'
import { organization } from '../../api/session.ts'
import { usePlace } from '../../app/router.ts'
import { CopyButton } from '../../parts/copy.tsx'
import { Card } from '../../parts/head.tsx'
import { type Column, DataList } from '../../parts/list.tsx'
import { Moment } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { BooksHead } from './head.tsx'

type Digest = List_LedgerDigest['data'][number]

const COLUMNS: Column<Digest>[] = [
  { head: t.reconciliation.day, cell: (digest) => <b class="num">{digest.day}</b> },
  { head: t.reconciliation.entries, cell: (digest) => <span class="num">{digest.entries}</span>, isEnd: true },
  { head: t.reconciliation.root, cell: (digest) => <code>{digest.root}</code>, isClipped: true },
  { head: t.reconciliation.signed, cell: (digest) => <Moment at={digest.created_at} />, isWide: true },
  { head: t.reconciliation.proof, cell: (digest) => <CopyButton value={JSON.stringify(digest)} name={t.reconciliation.copyProof(digest.day)} />, isEnd: true },
]

export default function DigestsScreen() {
  const { mode } = usePlace()
  const page = useList<Digest>('/dashboard/ledger_digests')
  const command = `till digest verify --account ${organization()?.id ?? ''} --mode ${mode ?? 'test'}`
  return (
    <>
      <BooksHead />
      <DataList page={page} label={t.reconciliation.digests} idOf={(digest) => digest.id} columns={COLUMNS} empty={{ glyph: 'shield', title: t.reconciliation.noDigests, text: t.reconciliation.noDigestsText }} />
      <Card title={t.reconciliation.check}>
        <div class="stack">
          <p>{t.reconciliation.checkText}</p>
          <div class="row">
            <code class="code one">{command}</code>
            <CopyButton value={command} />
          </div>
          <p class="dim">{t.reconciliation.checkMore}</p>
        </div>
      </Card>
    </>
  )
}
