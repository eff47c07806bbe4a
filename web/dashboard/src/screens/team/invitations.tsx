// Invitations: by mail, or as a link to pass on where the server sends none.

import { useState } from 'preact/hooks'
import type { Invite } from '#shared/api/types.ts'
import { type List, post, segment } from '../../api/client.ts'
import type { Data } from '../../api/data.ts'
import { rolesToGive } from '../../api/roles.ts'
import { organization } from '../../api/session.ts'
import { hasMail, signup } from '../../app/server.ts'
import { Action } from '../../parts/action.tsx'
import { CopyField } from '../../parts/copy.tsx'
import { SelectField, Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card } from '../../parts/head.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Tag } from '../../parts/tag.tsx'
import { toast } from '../../parts/toast.tsx'
import { Day } from '../../parts/values.tsx'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'

const says = setup.team

export function Invitations({ invites }: { invites: Data<List<Invite> | null> }) {
  const [made, setMade] = useState<Invite | null>(null)
  const form = useForm({ email: '', role: 'developer' }, async ({ email, role }) => {
    const invite = await post<Invite>('/dashboard/invites', { email: email.trim(), role }, { says: says.confirmInvite(email.trim(), t.roles[role] ?? role) })
    setMade(invite)
    form.set('email', '')
    await invites.reload()
  })
  const withdraw = async (id: string) => {
    await post(`/dashboard/invites/${segment(id)}/withdraw`)
    if (made?.id === id) setMade(null)
    toast(says.withdrawn)
    await invites.reload()
  }
  if (signup === 'closed') return <Notice tone="plain" glyph="people" title={says.closed}>{says.closedText}</Notice>
  return (
    <Card title={says.inviteTitle}>
      <form class="form" onSubmit={form.submit}>
        <TextField form={form} name="email" type="email" inputMode="email" label={t.common.email} />
        <SelectField form={form} name="role" label={says.role} hint={says.roles[form.values.role]} options={rolesToGive(organization()?.role).map((role) => [role, t.roles[role] ?? role])} />
        <Submit form={form}>{says.invite}</Submit>
      </form>
      {made && (
        <div class="stack">
          {made.link === null ? (
            <Notice tone="ok" title={says.mailed(made.email)} />
          ) : (
            <>
              <p>{says.passOn(made.email)}</p>
              <CopyField label={says.link} value={made.link} isSecret />
            </>
          )}
        </div>
      )}
      <Loaded of={invites}>
        {(list) => {
          const open = list?.data.filter((invite) => invite.status === 'open') ?? []
          return open.length === 0 ? (
            <p class="dim">{hasMail ? says.noInvites : says.noInvitesLink}</p>
          ) : (
            <ul class="people flush">
              {open.map((invite) => (
                <li key={invite.id}>
                  <div>
                    <b>{invite.email}</b> <Tag>{t.roles[invite.role] ?? invite.role}</Tag>
                    <p class="dim">
                      {says.openUntil} <Day at={invite.expires_at} />
                      {invite.invited_by && `, ${says.by(invite.invited_by.email)}`}
                    </p>
                  </div>
                  <Action run={() => withdraw(invite.id)} kind="danger">
                    {says.withdraw}
                  </Action>
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </Card>
  )
}
