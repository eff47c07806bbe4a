// One subscription: where it stands, what comes next by the plan's clock, and what can be done about it.

import type { Customer, Plan, Subscription } from '#shared/api/types.ts'
import { get, post, segment } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { href } from '../../app/router.ts'
import { Action } from '../../parts/action.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Metadata } from '../../parts/metadata.tsx'
import { Notice } from '../../parts/notice.tsx'
import { toast } from '../../parts/toast.tsx'
import { Moment } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { nameOf } from '../customers/customers.tsx'
import { priceOf } from '../plans/words.ts'
import { History } from './history.tsx'
import { SubscriptionStatus } from './status.tsx'
import { inZone } from './zone.ts'

interface Known {
  it: Subscription
  plan: Plan
  customer: Customer
}

export default function SubscriptionScreen({ id }: { id: string }) {
  const known = useData(async (): Promise<Known> => {
    const it = await get<Subscription>(`/subscriptions/${segment(id)}`)
    const [plan, customer] = await Promise.all([get<Plan>(`/plans/${segment(it.plan)}`), get<Customer>(`/customers/${segment(it.customer)}`)])
    return { it, plan, customer }
  }, [id])
  const { value } = known
  return (
    <>
      <Head title={value ? nameOf(value.customer) : t.subscriptions.one} beside={value && <SubscriptionStatus status={value.it.status} />} up={{ to: '/subscriptions', label: t.nav.subscriptions }}>
        {value && may('sales.write') && <Actions it={value.it} done={(it) => known.set({ ...value, it })} />}
      </Head>
      <Loaded of={known}>
        {({ it, plan, customer }) => (
          <>
            <State it={it} plan={plan} />
            <div class="two">
              <div>
                <Period it={it} plan={plan} />
                <History it={it} zone={plan.billing_timezone} />
              </div>
              <div>
                <Card title={t.subscriptions.facts}>
                  <Facts
                    facts={[
                      [t.subscriptions.one, <code>{it.id}</code>],
                      [t.customers.one, <a href={href(`/customers/${it.customer}`)}>{nameOf(customer)}</a>],
                      [t.plans.one, <a href={href(`/plans/${it.plan}`)}>{plan.name}</a>],
                      [t.plans.price, <span class="num">{priceOf(plan)}</span>],
                      [t.subscriptions.since, <Moment at={it.created_at} />],
                    ]}
                  />
                </Card>
                <Metadata pairs={it.metadata} />
              </div>
            </div>
          </>
        )}
      </Loaded>
    </>
  )
}

/** What somebody should know or do about it, if anything. */
function State({ it, plan }: { it: Subscription; plan: Plan }) {
  const when = (at: string | null) => (at === null ? '' : inZone(at, plan.billing_timezone))
  if (it.status === 'past_due') {
    return (
      <Notice tone="bad" title={t.subscriptions.pastDue(when(it.past_due_since))}>
        {t.subscriptions.pastDueText(it.attempt, plan.max_attempts)}
      </Notice>
    )
  }
  if (it.status === 'incomplete') {
    return (
      <Notice tone="warn" glyph="clock" title={t.subscriptions.incomplete}>
        {t.subscriptions.incompleteText}
      </Notice>
    )
  }
  if (it.status === 'paused') {
    return (
      <Notice tone="plain" glyph="minus" title={t.subscriptions.pausedAt(when(it.paused_at))}>
        {t.subscriptions.pausedText}
      </Notice>
    )
  }
  if (it.status === 'cancelled') {
    return (
      <Notice tone="plain" glyph="cross" title={t.subscriptions.cancelledAt(when(it.cancelled_at))}>
        {t.subscriptions.cancelReasons[it.cancellation_reason ?? '']}
      </Notice>
    )
  }
  return it.cancel_at_period_end ? (
    <Notice tone="info" glyph="calendar" title={t.subscriptions.willEnd(when(it.current_period_end))}>
      {t.subscriptions.willEndText}
    </Notice>
  ) : null
}

function Period({ it, plan }: { it: Subscription; plan: Plan }) {
  const isTrial = it.trial_end !== null && it.trial_end === it.current_period_end
  const moment = (at: string) => (
    <time dateTime={at} title={at}>
      {inZone(at, plan.billing_timezone)}
    </time>
  )
  return (
    <Card title={isTrial ? t.subscriptions.trialPeriod : t.subscriptions.period}>
      <Facts
        facts={[
          [t.subscriptions.from, moment(it.current_period_start)],
          [t.subscriptions.to, moment(it.current_period_end)],
          [t.subscriptions.next, it.next_invoice_at === null ? t.subscriptions.noNext : moment(it.next_invoice_at)],
          [t.subscriptions.attempt, it.attempt === 0 ? t.subscriptions.noAttempt : t.subscriptions.attemptOf(it.attempt, plan.max_attempts)],
          [
            t.subscriptions.latest,
            it.latest_invoice === null ? (
              t.common.none
            ) : (
              <a href={href(`/invoices/${it.latest_invoice}`)}>
                <code>{it.latest_invoice}</code>
              </a>
            ),
          ],
        ]}
      />
      <p class="hint">{t.subscriptions.zoneText(plan.billing_timezone)}</p>
    </Card>
  )
}

function Actions({ it, done }: { it: Subscription; done: (it: Subscription) => void }) {
  const path = `/subscriptions/${segment(it.id)}`
  const run = (action: string, said: string, body?: unknown) => async () => {
    done(await post<Subscription>(`${path}/${action}`, body))
    toast(said)
  }
  const { status } = it
  if (status === 'cancelled') return null
  return (
    <>
      {status === 'paused' && (
        <Action run={run('resume', t.subscriptions.resumed)} ask={{ title: t.subscriptions.resumeTitle, text: t.subscriptions.resumeText, yes: t.subscriptions.resume }}>
          {t.subscriptions.resume}
        </Action>
      )}
      {(status === 'active' || status === 'past_due') && (
        <Action run={run('pause', t.subscriptions.pausedToast)} ask={{ title: t.subscriptions.pauseTitle, text: t.subscriptions.pauseText, yes: t.subscriptions.pause, no: t.subscriptions.keep }}>
          {t.subscriptions.pause}
        </Action>
      )}
      {status !== 'incomplete' && !it.cancel_at_period_end && (
        <Action
          kind="danger"
          run={run('cancel', t.subscriptions.endSet, { at_period_end: true })}
          ask={{ title: t.subscriptions.endTitle, text: t.subscriptions.endText, yes: t.subscriptions.end, no: t.subscriptions.keep }}
        >
          {t.subscriptions.end}
        </Action>
      )}
      <Action
        kind="danger"
        run={run('cancel', t.subscriptions.cancelledToast, {})}
        ask={{ title: t.subscriptions.cancelTitle, text: t.subscriptions.cancelText, yes: t.subscriptions.cancel, no: t.subscriptions.keep }}
      >
        {t.subscriptions.cancel}
      </Action>
    </>
  )
}
