// A customer on a plan.

import type { Customer, Plan, Subscription } from '#shared/api/types.ts'
import { get, type List, post, segment } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { go, href, usePlace } from '../../app/router.ts'
import { SelectField, Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Empty, Loaded } from '../../parts/loaded.tsx'
import { MetadataField, readPairs } from '../../parts/metadata.tsx'
import { Notice } from '../../parts/notice.tsx'
import { toast } from '../../parts/toast.tsx'
import { t } from '../../texts/t.ts'
import { nameOf } from '../customers/customers.tsx'
import { whole } from '../plans/new.tsx'
import { priceOf } from '../plans/words.ts'

const PAGE = 100

/** The newest, and the one that was asked for even when it is older. */
async function choices<T extends { id: string }>(path: string, wanted: string | null): Promise<T[]> {
  const { data } = await get<List<T>>(path, { limit: PAGE })
  if (wanted === null || data.some((one) => one.id === wanted)) return data
  return [await get<T>(`${path}/${segment(wanted)}`), ...data]
}

export default function NewSubscriptionScreen() {
  const { query } = usePlace()
  const [customer, plan] = [query.get('customer'), query.get('plan')]
  const data = useData(async () => {
    const [plans, customers] = await Promise.all([choices<Plan>('/plans', plan), choices<Customer>('/customers', customer)])
    return { plans: plans.filter((one) => one.status === 'active'), customers }
  }, [customer, plan])
  return (
    <>
      <Head title={t.subscriptions.newTitle} up={{ to: '/subscriptions', label: t.nav.subscriptions }} />
      <Loaded of={data}>
        {({ plans, customers }) => {
          if (plans.length === 0) return <Missing title={t.subscriptions.needsPlan} to="/plans/new" label={t.plans.new} />
          if (customers.length === 0) return <Missing title={t.subscriptions.needsCustomer} to="/customers/new" label={t.customers.new} />
          return <Begin plans={plans} customers={customers} customer={customer} plan={plan} />
        }}
      </Loaded>
    </>
  )
}

function Missing({ title, to, label }: { title: string; to: string; label: string }) {
  return (
    <Card>
      <Empty
        glyph="loop"
        title={title}
        action={
          <a class="btn primary" href={href(to)}>
            {label}
          </a>
        }
      />
    </Card>
  )
}

function Begin({ plans, customers, customer, plan }: { plans: Plan[]; customers: Customer[]; customer: string | null; plan: string | null }) {
  const first = plans.find((one) => one.id === plan) ?? (plans[0] as Plan)
  const form = useForm({ customer: customer ?? customers[0]?.id ?? '', plan: first.id, trial_days: '', metadata: '' }, async (values) => {
    const metadata = readPairs(values.metadata)
    if (metadata === null) return
    const made = await post<Subscription>('/subscriptions', { customer: values.customer, plan: values.plan, trial_days: whole(values.trial_days), metadata })
    toast(t.subscriptions.made)
    go(`/subscriptions/${made.id}`)
  })
  const chosen = plans.find((one) => one.id === form.values.plan) ?? first
  const trial = form.values.trial_days.trim() === '' ? chosen.trial_days : whole(form.values.trial_days)
  return (
    <Card class="narrow-pane">
      <form class="form" onSubmit={form.submit}>
        <SelectField form={form} name="customer" label={t.customers.one} hint={customers.length >= PAGE ? t.subscriptions.newestOnly : undefined} options={customers.map((one) => [one.id, nameOf(one)] as const)} />
        <SelectField form={form} name="plan" label={t.plans.one} options={plans.map((one) => [one.id, t.subscriptions.planChoice(one.name, priceOf(one))] as const)} />
        <TextField form={form} name="trial_days" label={t.subscriptions.trial} hint={t.subscriptions.trialHint(chosen.trial_days)} inputMode="numeric" isOptional />
        <MetadataField form={form} />
        <Notice tone="info" glyph="calendar">
          {trial ? t.subscriptions.willTry(t.plans.days(trial)) : t.subscriptions.willBill}
        </Notice>
        <Submit form={form}>{t.subscriptions.make}</Submit>
      </form>
    </Card>
  )
}
