import type { CreatePlanRequest, IntervalUnit, Plan } from '#shared/api/types.ts'
import { typed } from '#shared/money.ts'
import { post } from '../../api/client.ts'
import { go } from '../../app/router.ts'
import { AcceptsField, readAssets } from '../../parts/accepts.tsx'
import { SelectField, Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Notice } from '../../parts/notice.tsx'
import { toast } from '../../parts/toast.tsx'
import { t } from '../../texts/t.ts'

const UNITS: IntervalUnit[] = ['day', 'week', 'month', 'year']
/** The most digits after the point that a price may have; the server knows what its currency has. */
const DECIMALS = 8

/** The zones this browser knows; the reader's own is the one to begin with. */
const zones = () => ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]
const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

const EMPTY = { name: '', amount: '', currency: 'USD', interval_count: '1', interval: 'month', trial_days: '0', grace_days: '3', max_attempts: '4', billing_timezone: 'UTC', assets: '' }

/** A whole number, or what was typed, to be refused at its field; nothing is the server's own choice. */
export const whole = (text: string): number | null => {
  const plain = text.trim()
  return plain === '' ? null : /^\d{1,6}$/.test(plain) ? Number(plain) : (plain as unknown as number)
}

export function requestOf(values: typeof EMPTY): CreatePlanRequest {
  return {
    name: values.name.trim(),
    amount: typed(values.amount, DECIMALS) ?? values.amount.trim(),
    currency: values.currency.trim().toUpperCase(),
    interval: values.interval as IntervalUnit,
    interval_count: whole(values.interval_count),
    trial_days: whole(values.trial_days),
    grace_days: whole(values.grace_days),
    max_attempts: whole(values.max_attempts),
    billing_timezone: values.billing_timezone,
    assets: readAssets(values.assets),
  }
}

export default function NewPlanScreen() {
  const form = useForm({ ...EMPTY, billing_timezone: ownZone() }, async (values) => {
    const made = await post<Plan>('/plans', requestOf(values))
    toast(t.plans.made)
    go(`/plans/${made.id}`)
  })
  return (
    <>
      <Head title={t.plans.newTitle} up={{ to: '/plans', label: t.nav.plans }} />
      <Card class="narrow-pane">
        <form class="form" onSubmit={form.submit}>
          <Notice tone="info" glyph="calendar">
            {t.plans.forGood}
          </Notice>
          <TextField form={form} name="name" label={t.common.name} hint={t.plans.nameHint} maxLength={200} isFocused />
          <div class="pair">
            <TextField form={form} name="amount" label={t.plans.perPeriod} inputMode="decimal" />
            <TextField form={form} name="currency" label={t.links.currency} maxLength={3} />
          </div>
          <div class="pair">
            <TextField form={form} name="interval_count" label={t.plans.everyLabel} inputMode="numeric" />
            <SelectField form={form} name="interval" label={t.plans.unit} options={UNITS.map((unit) => [unit, t.plans.units[unit]] as const)} />
          </div>
          <SelectField form={form} name="billing_timezone" label={t.plans.zone} hint={t.plans.zoneHint} options={[...new Set([ownZone(), ...zones()])].map((zone) => [zone, zone] as const)} />
          <TextField form={form} name="trial_days" label={t.plans.trial} hint={t.plans.trialHint} inputMode="numeric" />
          <div class="pair">
            <TextField form={form} name="grace_days" label={t.plans.grace} hint={t.plans.graceHint} inputMode="numeric" />
            <TextField form={form} name="max_attempts" label={t.plans.attempts} hint={t.plans.attemptsHint} inputMode="numeric" />
          </div>
          <AcceptsField form={form} />
          <Submit form={form}>{t.plans.make}</Submit>
        </form>
      </Card>
    </>
  )
}
