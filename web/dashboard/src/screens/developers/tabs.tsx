import { may } from '../../api/session.ts'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Tabs } from '../../parts/list.tsx'
import { api } from '../../app/server.ts'
import '../../style/setup.css'
import { t } from '../../texts/t.ts'

/** The reference lies beside the API. */
const REFERENCE = new URL('../docs', `${api}/`).href

/** What all screens for developers begin with. */
export function DevelopersHead() {
  return (
    <>
      <Head title={t.developers.title}>
        <a class="btn" href={REFERENCE} target="_blank" rel="noreferrer">
          <Icon name="out" />
          {t.developers.reference}
        </a>
      </Head>
      <Tabs
        label={t.developers.title}
        tabs={[
          ...(may('keys.read') ? [{ to: '/developers/keys', label: t.developers.keys.title }] : []),
          { to: '/developers', label: t.developers.deliveries.title },
          { to: '/developers/webhooks', label: t.developers.webhooks.title },
          { to: '/developers/requests', label: t.developers.builder.title },
        ]}
      />
    </>
  )
}
