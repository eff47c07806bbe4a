import type { ComponentChildren } from 'preact'
import { Head } from '../../parts/head.tsx'
import { Tabs } from '../../parts/list.tsx'
import '../../style/setup.css'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'

export function OperatorHead({ children }: { children?: ComponentChildren }) {
  return (
    <>
      <Head title={t.setup.operator}>{children}</Head>
      <Tabs
        label={t.setup.operator}
        tabs={[
          { to: '/operator', label: setup.operator.applications.title },
          { to: '/operator/organizations', label: setup.operator.organizations.title },
          { to: '/operator/server', label: setup.operator.server.title },
        ]}
      />
    </>
  )
}
