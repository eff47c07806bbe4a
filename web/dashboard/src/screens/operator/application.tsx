// One application, and the decision about it.

import type { ReviewedApplication } from '#shared/api/types.ts'
import { get, post, segment } from '../../api/client.ts'
import { type Data, useData } from '../../api/data.ts'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Notice } from '../../parts/notice.tsx'
import { toast } from '../../parts/toast.tsx'
import { Moment } from '../../parts/values.tsx'
import '../../style/setup.css'
import { setup } from '../../texts/setup.ts'
import { ApplicationFacts, ApplicationStatus } from '../application/facts.tsx'

const says = setup.operator.applications

export default function ReviewScreen({ id }: { id: string }) {
  const application = useData(() => get<ReviewedApplication>(`/dashboard/operator/applications/${segment(id)}`), [id])
  const value = application.value
  return (
    <>
      <Head title={value?.organization.name ?? says.one} beside={value && <ApplicationStatus status={value.status} />} up={{ to: '/operator', label: says.title }} />
      <Loaded of={application}>
        {(of) => (
          <div class="two">
            <div>
              <Card title={says.answers}>
                <ApplicationFacts of={of} />
              </Card>
            </div>
            <div>
              <Card title={says.decision}>{of.status === 'pending' ? <Decide of={of} application={application} /> : <Decided of={of} />}</Card>
            </div>
          </div>
        )}
      </Loaded>
    </>
  )
}

function Decided({ of }: { of: ReviewedApplication }) {
  return (
    <div class="stack">
      <p>
        {of.decided_at ? (
          <>
            {of.decided_by?.type === 'cli' ? says.decidedByShell : says.decided} <Moment at={of.decided_at} />
          </>
        ) : (
          says.notSubmitted
        )}
      </p>
      {of.reason && <p class="dim">{of.reason}</p>}
    </div>
  )
}

function Decide({ of, application }: { of: ReviewedApplication; application: Data<ReviewedApplication> }) {
  const to = (what: string) => `/dashboard/operator/applications/${segment(of.id)}/${what}`
  const { name } = of.organization
  const approve = useForm({ note: '' }, async ({ note }) => {
    await post(to('approve'), { note: note.trim() || null }, { says: says.confirmApprove(name) })
    toast(says.approved)
    await application.reload()
  })
  const reject = useForm({ reason: '' }, async ({ reason }) => {
    await post(to('reject'), { reason: reason.trim() }, { says: says.confirmReject(name) })
    toast(says.rejected)
    await application.reload()
  })
  return (
    <>
      <Notice tone="plain" glyph="shield">
        {says.means}
      </Notice>
      <form class="form" onSubmit={approve.submit}>
        <TextField form={approve} name="note" label={says.note} isOptional maxLength={500} rows={2} />
        <Submit form={approve} needsPasskey>
          {says.approve}
        </Submit>
      </form>
      <form class="form" onSubmit={reject.submit}>
        <TextField form={reject} name="reason" label={says.reason} hint={says.reasonHint} maxLength={500} rows={2} />
        <Submit form={reject} isDanger needsPasskey>
          {says.reject}
        </Submit>
      </form>
    </>
  )
}
