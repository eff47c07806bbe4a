import type { Plan } from '#shared/api/types.ts'
import { get, post, segment } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { href } from '../../app/router.ts'
import { Action } from '../../parts/action.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { networkNameOf } from '../../parts/network.ts'
import { Notice } from '../../parts/notice.tsx'
import { toast } from '../../parts/toast.tsx'
import { Moment, symbolOf } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { PlanStatus } from './plans.tsx'
import { priceOf } from './words.ts'

export default function PlanScreen({ id }: { id: string }) {
  const plan = useData(() => get<Plan>(`/plans/${segment(id)}`), [id])
  const { value } = plan
  const isOpen = value?.status === 'active' && may('sales.write')
  const archive = async () => {
    plan.set(await post<Plan>(`/plans/${segment(id)}/archive`))
    toast(t.plans.archivedToast)
  }
  return (
    <>
      <Head title={value?.name ?? t.plans.one} beside={value && <PlanStatus plan={value} />} up={{ to: '/plans', label: t.nav.plans }}>
        {isOpen && (
          <>
            <Action kind="danger" run={archive} ask={{ title: t.plans.archiveTitle, text: t.plans.archiveText, yes: t.plans.archive, no: t.plans.keep }}>
              {t.plans.archive}
            </Action>
            <a class="btn primary" href={href(`/subscriptions/new?plan=${segment(id)}`)}>
              <Icon name="plus" />
              {t.subscriptions.new}
            </a>
          </>
        )}
      </Head>
      <Loaded of={plan}>
        {(one) => (
          <>
            {one.status === 'archived' && (
              <Notice tone="plain" glyph="minus">
                {t.plans.archivedText}
              </Notice>
            )}
            <Card class="narrow-pane" title={t.plans.facts}>
              <Facts
                facts={[
                  [t.plans.one, <code>{one.id}</code>],
                  [t.plans.price, <b class="num">{priceOf(one)}</b>],
                  [t.plans.zone, one.billing_timezone],
                  [t.plans.trial, t.plans.days(one.trial_days)],
                  [t.plans.grace, t.plans.days(one.grace_days)],
                  [t.plans.attempts, one.max_attempts],
                  [t.links.accepts, one.assets === null ? t.links.defaults : one.assets.map((asset) => t.accepts.one(symbolOf(asset), networkNameOf(asset))).join(', ')],
                  [t.plans.since, <Moment at={one.created_at} />],
                ]}
              />
            </Card>
          </>
        )}
      </Loaded>
    </>
  )
}
