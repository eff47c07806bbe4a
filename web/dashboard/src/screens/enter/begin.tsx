// For who is signed in and in no organisation: make one, or wait for an invitation.

import { useState } from 'preact/hooks'
import type { NewOrganization, Session } from '#shared/api/types.ts'
import { get, post } from '../../api/client.ts'
import { chooseOrganization, session, signedIn } from '../../api/session.ts'
import { go, href } from '../../app/router.ts'
import { signup } from '../../app/server.ts'
import { CopyField } from '../../parts/copy.tsx'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { Notice } from '../../parts/notice.tsx'
import { signOut } from '../../shell/sign-out.ts'
import { t } from '../../texts/t.ts'
import { EnterFrame } from './frame.tsx'

export default function Begin() {
  const [made, setMade] = useState<NewOrganization | null>(null)
  const form = useForm({ name: '' }, async ({ name }) => {
    setMade(await post<NewOrganization>('/dashboard/organizations', { name }))
  })
  const enter = async () => {
    if (made) chooseOrganization(made.organization.id)
    signedIn(await get<Session>('/dashboard/session'))
    go('/', { mode: 'test', replace: true })
  }
  if (made) {
    return (
      <EnterFrame title={t.enter.keys} text={t.enter.keysText}>
        <CopyField label={t.enter.secretKey} value={made.test.secret_key} isSecret />
        <CopyField label={t.enter.publishableKey} value={made.test.publishable_key} />
        <CopyField label={t.enter.webhookSecret} value={made.test.webhook_secret} isSecret />
        <button type="button" class="btn primary" onClick={() => void enter()}>
          {t.common.next}
        </button>
      </EnterFrame>
    )
  }
  if (signup !== 'open' && !session()?.user.operator) {
    return (
      <EnterFrame title={t.enter.nowhere}>
        <Notice tone="info">{t.enter.nowhereText}</Notice>
        <p>
          <button type="button" class="link" onClick={() => void signOut()}>
            {t.shell.signOut}
          </button>
        </p>
      </EnterFrame>
    )
  }
  return (
    <EnterFrame title={t.enter.organization} text={t.enter.organizationText}>
      <form class="stack" onSubmit={form.submit}>
        <TextField form={form} name="name" label={t.enter.organizationName} autocomplete="organization" maxLength={100} isFocused />
        <Submit form={form}>{t.common.next}</Submit>
      </form>
      {session()?.user.operator && (
        <p>
          <a href={href('/operator', 'test')}>{t.setup.onlyServer}</a>
        </p>
      )}
    </EnterFrame>
  )
}
