import type { ComponentChildren } from 'preact'
import { may } from '../../api/session.ts'
import { Head } from '../../parts/head.tsx'
import { Tabs } from '../../parts/list.tsx'
import '../../style/reconciliation.css'
import { t } from '../../texts/t.ts'

export function BooksHead({ children }: { children?: ComponentChildren }) {
  const tabs = [
    { to: '/reconciliation', label: t.reconciliation.books },
    { to: '/reconciliation/course', label: t.reconciliation.course },
    ...(may('audit.read') ? [{ to: '/reconciliation/digests', label: t.reconciliation.digests }] : []),
  ]
  return (
    <>
      <Head title={t.nav.reconciliation}>{children}</Head>
      <Tabs label={t.nav.reconciliation} tabs={tabs} />
    </>
  )
}
