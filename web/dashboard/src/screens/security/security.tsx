// One's own ways in: passkeys, codes, sessions, and who signed in when.

import { useState } from 'preact/hooks'
import type { Passkey, Session, User } from '#shared/api/types.ts'
import { get, type List, post, segment } from '../../api/client.ts'
import { type Data, useData } from '../../api/data.ts'
import { registerPasskey } from '../../api/register.ts'
import { session, updateUser, who } from '../../api/session.ts'
import { Action } from '../../parts/action.tsx'
import { Buttons, Dialog } from '../../parts/dialog.tsx'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Tag } from '../../parts/tag.tsx'
import { toast } from '../../parts/toast.tsx'
import { Day, Moment, Time } from '../../parts/values.tsx'
import '../../style/setup.css'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'
import { browserOf } from './browser.ts'
import { Codes } from './codes.tsx'
import { SignIns } from './sign-ins.tsx'

const says = setup.security

export default function SecurityScreen() {
  who.use()
  const passkeys = useData(() => get<List<Passkey>>('/dashboard/passkeys', { limit: 100 }))
  const refresh = async () => {
    await passkeys.reload()
    updateUser(await get<User>('/dashboard/user'))
  }
  const user = session()?.user
  return (
    <>
      <Head title={t.setup.security} />
      {user?.passkeys === 0 && <Notice tone="warn" title={says.noPasskey}>{says.noPasskeyText}</Notice>}
      <Loaded of={passkeys}>{({ data }) => <Passkeys passkeys={data} onDone={refresh} />}</Loaded>
      {user && <Codes user={user} />}
      {user && <You user={user} />}
      <Sessions />
      <SignIns />
    </>
  )
}

function You({ user }: { user: User }) {
  const form = useForm({ name: user.name ?? '' }, async ({ name }) => {
    updateUser(await post<User>('/dashboard/user', { name: name.trim() || null }))
    toast(t.common.saved)
  })
  return (
    <Card title={says.you}>
      <form class="form" onSubmit={form.submit}>
        <TextField form={form} name="name" label={t.common.name} hint={says.nameHint} maxLength={100} isOptional autocomplete="name" />
        <Submit form={form}>{t.common.save}</Submit>
      </form>
    </Card>
  )
}

function Passkeys({ passkeys, onDone }: { passkeys: Passkey[]; onDone: () => Promise<unknown> }) {
  const form = useForm({ name: '' }, async ({ name }) => {
    await registerPasskey(name.trim() || t.welcome.device)
    toast(t.welcome.done)
    form.set('name', '')
    await onDone()
  })
  return (
    <Card title={says.passkeys}>
      <p class="dim">{passkeys.length === 1 ? says.onlyOne : says.passkeysText}</p>
      {passkeys.length > 0 && (
        <ul class="people flush">
          {passkeys.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} isLast={passkeys.length === 1} onDone={onDone} />
          ))}
        </ul>
      )}
      <form class="form" onSubmit={form.submit}>
        <TextField form={form} name="name" label={t.welcome.name} hint={t.welcome.nameHint} maxLength={100} isOptional />
        <Submit form={form} needsPasskey>
          {says.add}
        </Submit>
      </form>
    </Card>
  )
}

function PasskeyRow({ passkey, isLast, onDone }: { passkey: Passkey; isLast: boolean; onDone: () => Promise<unknown> }) {
  const [isNaming, setNaming] = useState(false)
  const remove = async () => {
    await post(`/dashboard/passkeys/${segment(passkey.id)}/remove`, undefined, { says: says.confirmRemove(passkey.name) })
    toast(says.removed)
    await onDone()
  }
  return (
    <li>
      <div>
        <b>{passkey.name}</b> {passkey.backed_up && <Tag>{says.synced}</Tag>}
        <p class="dim">
          {says.since} <Day at={passkey.created_at} />. {says.used} {passkey.last_used_at ? <Time at={passkey.last_used_at} /> : says.never}.
        </p>
      </div>
      <span class="acts">
        <button type="button" class="btn" aria-label={says.renameOf(passkey.name)} onClick={() => setNaming(true)}>
          {says.rename}
        </button>
        <Action kind="danger" run={remove} ask={{ title: says.removeTitle(passkey.name), text: isLast ? says.removeLast : says.removeText, yes: t.common.delete, needsPasskey: true }}>
          {t.common.delete}
        </Action>
      </span>
      {isNaming && <Rename passkey={passkey} onClose={() => setNaming(false)} onDone={onDone} />}
    </li>
  )
}

function Rename({ passkey, onClose, onDone }: { passkey: Passkey; onClose: () => void; onDone: () => Promise<unknown> }) {
  const form = useForm({ name: passkey.name }, async ({ name }) => {
    await post(`/dashboard/passkeys/${segment(passkey.id)}`, { name })
    onClose()
    await onDone()
  })
  return (
    <Dialog title={says.renameOf(passkey.name)} onClose={onClose}>
      <form class="form" onSubmit={form.submit}>
        <TextField form={form} name="name" label={t.common.name} maxLength={100} isFocused />
        <Buttons>
          <button type="button" class="btn" onClick={onClose}>
            {t.common.cancel}
          </button>
          <Submit form={form}>{t.common.save}</Submit>
        </Buttons>
      </form>
    </Dialog>
  )
}

function Sessions() {
  const sessions = useData(() => get<List<Session>>('/dashboard/sessions', { limit: 100 }))
  return (
    <Loaded of={sessions}>
      {({ data }) => (
        <Card title={says.sessions}>
          <ul class="people flush">
            {data.map((one) => (
              <SessionRow key={one.id} one={one} sessions={sessions} />
            ))}
          </ul>
          {data.length > 1 && (
            <div class="says-and-does">
              <p class="dim">{says.othersText}</p>
              <Action
                kind="danger"
                run={async () => {
                  const { count } = await post<{ count: number }>('/dashboard/sessions/revoke_others')
                  toast(says.ended(count))
                  await sessions.reload()
                }}
                ask={{ title: says.othersTitle, text: says.othersMeans, yes: says.others }}
              >
                {says.others}
              </Action>
            </div>
          )}
        </Card>
      )}
    </Loaded>
  )
}

function SessionRow({ one, sessions }: { one: Session; sessions: Data<List<Session>> }) {
  const end = async () => {
    await post(`/dashboard/sessions/${segment(one.id)}/revoke`)
    toast(says.ended(1))
    await sessions.reload()
  }
  return (
    <li>
      <div>
        <b>{browserOf(one.user_agent) ?? says.unknownBrowser}</b> {one.current && <Tag tone="ok">{says.thisOne}</Tag>}
        <p class="dim">
          {one.ip && `${one.ip}. `}
          {says.methods[one.method] ?? one.method} <Moment at={one.created_at} />. {says.lastUsed} <Time at={one.last_used_at} />.
        </p>
      </div>
      {!one.current && (
        <Action kind="danger" run={end}>
          {says.end}
        </Action>
      )}
    </li>
  )
}
