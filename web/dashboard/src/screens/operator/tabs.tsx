import type { ComponentChildren } from 'preact'
import { Head } from '../../parts/head.tsx'
import { Tabs } from '../../parts/list.tsx'
import '../../style/setup.css'
import { t } from '../../texts/t.ts'

export function OperatorHead({ children }: { children?: ComponentChildren }) {
  return (
    <>
      <Head title={t.operator.title}>{children}</Head>
      <Tabs
        label={t.operator.title}
        tabs={[
          { to: '/operator', label: t.operator.applications.title },
          { to: '/operator/organizations', label: t.operator.organizations.title },
          { to: '/operator/server', label: t.operator.server.title },
        ]}
      />
    </>
  )
}
