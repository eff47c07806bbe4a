import { may } from '../../api/session.ts'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Tabs } from '../../parts/list.tsx'
import { api } from '../../app/server.ts'
import '../../style/setup.css'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'

/** The reference lies beside the API. */
const REFERENCE = new URL('../docs', `${api}/`).href

/** What all screens for developers begin with. */
export function DevelopersHead() {
  return (
    <>
      <Head title={t.setup.developers}>
        <a class="btn" href={REFERENCE} target="_blank" rel="noreferrer">
          <Icon name="out" />
          {setup.developers.reference}
        </a>
      </Head>
      <Tabs
        label={t.setup.developers}
        tabs={[
          ...(may('keys.read') ? [{ to: '/developers/keys', label: setup.developers.keys.title }] : []),
          { to: '/developers', label: setup.developers.deliveries.title },
          { to: '/developers/webhooks', label: setup.developers.webhooks.title },
          { to: '/developers/requests', label: setup.developers.builder.title },
        ]}
      />
    </>
  )
}
