// Who is in the organisation, what each may do, and invitations.

import { useState } from 'preact/hooks'
import type { Invite, Member, Organization } from '#shared/api/types.ts'
import { get, type List, post, refreshSession, segment } from '../../api/client.ts'
import { type Data, useData } from '../../api/data.ts'
import { may, organization, session } from '../../api/session.ts'
import { ROLES, rolesToGive } from '../../api/roles.ts'
import { go } from '../../app/router.ts'
import { Action } from '../../parts/action.tsx'
import { Buttons, Dialog } from '../../parts/dialog.tsx'
import { SelectField, Submit, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Tag } from '../../parts/tag.tsx'
import { toast } from '../../parts/toast.tsx'
import { Day, Time } from '../../parts/values.tsx'
import '../../style/setup.css'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'
import { Invitations } from './invitations.tsx'

const says = setup.team

export default function TeamScreen() {
  const members = useData(() => get<List<Member>>('/dashboard/members', { limit: 100 }))
  const invites = useData(async () => (may('members.write') ? get<List<Invite>>('/dashboard/invites', { limit: 100 }) : null))
  return (
    <>
      <Head title={t.setup.team} />
      <p class="dim narrow-pane">{says.text}</p>
      <Loaded of={members}>
        {({ data }) => (
          <Card title={says.members(data.length)}>
            <ul class="people flush">
              {data.map((member) => (
                <Person key={member.id} member={member} members={members} />
              ))}
            </ul>
          </Card>
        )}
      </Loaded>
      {may('members.write') && <Invitations invites={invites} />}
      <Roles />
      <Leave />
    </>
  )
}

function Person({ member, members }: { member: Member; members: Data<List<Member>> }) {
  const [isChanging, setChanging] = useState(false)
  const mine = organization()?.role
  const isMe = member.id === session()?.user.id
  const canAct = may('members.write') && !isMe && (mine === 'owner' || member.role !== 'owner')
  const keys = member.keys.test + member.keys.live
  const remove = async () => {
    await post(`/dashboard/members/${segment(member.id)}/remove`, undefined, { says: says.confirmRemove(member.email) })
    toast(says.removed(member.email))
    await members.reload()
  }
  return (
    <li>
      <div>
        <b>{member.name ?? member.email}</b> {isMe && <span class="dim">({says.you})</span>} <Tag>{t.roles[member.role] ?? member.role}</Tag>
        <p class="dim">
          {member.name && `${member.email}. `}
          {member.passkeys > 0 ? says.hasPasskey : says.noPasskey} {says.joined} <Day at={member.joined_at} />.{' '}
          {member.last_active_at && (
            <>
              {says.active} <Time at={member.last_active_at} />.
            </>
          )}
        </p>
      </div>
      {canAct && (
        <span class="acts">
          <button type="button" class="btn" onClick={() => setChanging(true)} aria-label={says.changeOf(member.email)}>
            {says.change}
          </button>
          <Action
            kind="danger"
            run={remove}
            ask={{ title: says.removeTitle(member.email), text: keys > 0 ? says.removeKeys(keys) : says.removeText, yes: t.common.delete }}
          >
            {t.common.delete}
          </Action>
        </span>
      )}
      {isChanging && <RoleDialog member={member} onClose={() => setChanging(false)} onDone={() => members.reload()} />}
    </li>
  )
}

function RoleDialog({ member, onClose, onDone }: { member: Member; onClose: () => void; onDone: () => unknown }) {
  const form = useForm({ role: member.role }, async ({ role }) => {
    await post(`/dashboard/members/${segment(member.id)}`, { role }, { says: says.confirmRole(member.email, t.roles[role] ?? role) })
    toast(says.changed(member.email, t.roles[role] ?? role))
    onClose()
    await onDone()
  })
  return (
    <Dialog title={says.changeOf(member.email)} onClose={onClose}>
      <form class="form" onSubmit={form.submit}>
        <SelectField form={form} name="role" label={says.role} hint={says.roles[form.values.role]} options={rolesToGive(organization()?.role).map((role) => [role, t.roles[role] ?? role])} />
        <p class="dim">{says.roleText}</p>
        <Buttons>
          <button type="button" class="btn" onClick={onClose}>
            {t.common.cancel}
          </button>
          <Submit form={form}>{says.change}</Submit>
        </Buttons>
      </form>
    </Dialog>
  )
}

function Roles() {
  return (
    <Card title={says.rolesTitle}>
      <dl class="facts words">
        {ROLES.map((role) => (
          <div key={role}>
            <dt>{t.roles[role]}</dt>
            <dd>{says.roles[role]}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

function Leave() {
  const leave = async () => {
    const left = organization() as Organization
    await post('/dashboard/members/leave')
    toast(says.left(left.name))
    await refreshSession()
    go('/')
  }
  return (
    <Card title={says.leaveTitle}>
      <div class="says-and-does">
        <p class="dim">{says.leaveText}</p>
        <Action kind="danger" run={leave} ask={{ title: says.leaveAsk(organization()?.name ?? ''), text: says.leaveMeans, yes: says.leave }}>
          <Icon name="out" />
          {says.leave}
        </Action>
      </div>
      {organization()?.role === 'owner' && <Notice tone="plain">{says.leaveOwner}</Notice>}
    </Card>
  )
}
