// The application for live mode: filled in, handed in with a passkey, decided by the operator of the server.

import { useRef } from 'preact/hooks'
import type { Application } from '#shared/api/types.ts'
import { get, post, refreshSession } from '../../api/client.ts'
import { type Data, useData } from '../../api/data.ts'
import { may, organization } from '../../api/session.ts'
import { href } from '../../app/router.ts'
import { Action } from '../../parts/action.tsx'
import { SelectField, Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Notice } from '../../parts/notice.tsx'
import { toast } from '../../parts/toast.tsx'
import { Moment } from '../../parts/values.tsx'
import '../../style/setup.css'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'
import { countries } from './countries.ts'
import { ApplicationFacts, ApplicationStatus } from './facts.tsx'

const says = setup.application

export default function ApplicationScreen() {
  const application = useData(async () => {
    const now = await get<Application>('/dashboard/application')
    // Decided meanwhile: the menu and the mode switch follow.
    if (organization()?.application_status !== now.status) await refreshSession()
    return now
  })
  return (
    <>
      <Head title={t.setup.application} beside={application.value && <ApplicationStatus status={application.value.status} />} />
      <Loaded of={application}>
        {(value) => (
          <>
            <How of={value} application={application} />
            {may('application.write') && (value.status === 'draft' || value.status === 'rejected') ? <Fill key={value.id} of={value} application={application} /> : <Card title={says.answers}>{<ApplicationFacts of={value} />}</Card>}
          </>
        )}
      </Loaded>
    </>
  )
}

/** How it stands, and what to do next. */
function How({ of, application }: { of: Application; application: Data<Application> }) {
  const withdraw = async () => {
    application.set(await post<Application>('/dashboard/application/withdraw'))
    toast(says.withdrawn)
    await refreshSession()
  }
  if (of.status === 'approved') {
    return (
      <Notice
        tone="ok"
        title={says.approved}
        action={
          <a class="btn primary" href={href('/destinations', 'live')}>
            {says.toDestinations}
            <Icon name="right" />
          </a>
        }
      >
        {says.approvedText}
      </Notice>
    )
  }
  if (of.status === 'pending') {
    return (
      <Notice
        tone="info"
        glyph="clock"
        title={says.pending}
        action={
          may('application.write') && (
            <Action run={withdraw} ask={{ title: says.withdrawTitle, text: says.withdrawText, yes: says.withdraw }}>
              {says.withdraw}
            </Action>
          )
        }
      >
        {says.pendingText} {of.submitted_at && <Moment at={of.submitted_at} />}
      </Notice>
    )
  }
  if (of.status === 'rejected') {
    return (
      <Notice tone="warn" title={says.rejected}>
        {of.reason ? says.because(of.reason) : ''} {says.rejectedText}
      </Notice>
    )
  }
  return <p class="dim narrow-pane">{may('application.write') ? says.text : says.onlyOwners}</p>
}

const FIELDS = ['business_name', 'website', 'country', 'contact_email', 'business_description', 'expected_monthly_volume'] as const

function Fill({ of, application }: { of: Application; application: Data<Application> }) {
  const initial = Object.fromEntries(FIELDS.map((name) => [name, of[name] ?? ''])) as Record<(typeof FIELDS)[number], string>
  const save = async (values: typeof initial) => {
    const body = Object.fromEntries(FIELDS.map((name) => [name, values[name].trim() || null]))
    application.set(await post<Application>('/dashboard/application', body))
  }
  const isLater = useRef(false)
  const form = useForm(initial, async (values) => {
    const stops = isLater.current
    isLater.current = false
    await save(values)
    if (stops) return toast(t.common.saved)
    application.set(await post<Application>('/dashboard/application/submit', undefined, { says: says.confirm(values.business_name) }))
    toast(says.submitted)
    await refreshSession()
  })
  return (
    <Card title={says.answers}>
      <form class="form" onSubmit={form.submit}>
        <TextField form={form} name="business_name" label={says.fields.business_name} maxLength={200} autocomplete="organization" />
        <TextField form={form} name="website" label={says.fields.website} type="url" inputMode="url" isOptional hint={says.websiteHint} autocomplete="url" />
        <SelectField form={form} name="country" label={says.fields.country} options={[['', says.choose], ...countries()]} />
        <TextField form={form} name="contact_email" label={says.fields.contact_email} type="email" inputMode="email" autocomplete="email" />
        <TextField form={form} name="business_description" label={says.fields.business_description} rows={4} maxLength={2000} hint={says.descriptionHint} />
        <TextField form={form} name="expected_monthly_volume" label={says.fields.expected_monthly_volume} inputMode="decimal" hint={says.volumeHint} />
        <p class="dim">{says.means}</p>
        <div class="acts">
          <Submit form={form} needsPasskey>
            {says.submit}
          </Submit>
          <button
            type="submit"
            class="btn"
            formNoValidate
            onClick={() => {
              isLater.current = true
            }}
          >
            {says.saveDraft}
          </button>
        </div>
      </form>
    </Card>
  )
}
