// Signing in and signing up. Whoever opened another page comes back to it: the address stays as it is.

import { useEffect, useState } from 'preact/hooks'
import { announce } from '#shared/parts/announce.tsx'
import type { Ceremony, Session } from '#shared/api/types.ts'
import { post } from '../../api/client.ts'
import { hasPasskeys, usePasskey } from '../../api/passkeys.ts'
import { signedIn } from '../../api/session.ts'
import { href, usePlace } from '../../app/router.ts'
import { hasMail, signup } from '../../app/server.ts'
import { Action } from '../../parts/action.tsx'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { Notice, Problem } from '../../parts/notice.tsx'
import { t } from '../../texts/t.ts'
import { EnterFrame } from './frame.tsx'
import { SecondFactor } from './second-factor.tsx'

const entering = { isEntering: true } as const

export async function withPasskey(how: { signal?: AbortSignal; isOffered?: boolean } = {}): Promise<void> {
  const { id, options } = await post<Ceremony>('/dashboard/sign_in/passkey/begin', undefined, entering)
  const credential = await usePasskey(options, how)
  signedIn(await post<Session>('/dashboard/sign_in/passkey', { ceremony: id, credential }, entering))
}

interface Props {
  pending?: Session | null
  why?: unknown
  again?: () => void
}

export default function Enter({ pending, why, again }: Props) {
  const { path } = usePlace()
  if (why !== undefined) {
    return (
      <EnterFrame title={t.enter.unreachable}>
        <Problem error={why} again={again} />
      </EnterFrame>
    )
  }
  if (pending) return <SecondFactor session={pending} />
  return path === '/sign-up' && signup === 'open' && hasMail ? <SignUp /> : <SignIn />
}

/** A form for an address; the answer is the same whether anybody has it. */
function LinkForm({ path, label }: { path: string; label: string }) {
  const [sentTo, setSentTo] = useState<string | null>(null)
  const form = useForm({ email: '' }, async ({ email }) => {
    await post(path, { email }, entering)
    setSentTo(email)
    announce(t.enter.sent)
  })
  if (sentTo !== null) {
    return (
      <Notice tone="info" glyph="check" title={t.enter.sent}>
        {t.enter.sentText(sentTo)}
      </Notice>
    )
  }
  return (
    <form class="stack" onSubmit={form.submit}>
      <TextField form={form} name="email" type="email" label={t.common.email} autocomplete="username webauthn" inputMode="email" />
      <Submit form={form}>{label}</Submit>
    </form>
  )
}

function SignIn() {
  // Browsers that can offer passkeys in the field for the address.
  useEffect(() => {
    const ending = new AbortController()
    const offer = async () => {
      if (!hasMail || !hasPasskeys() || !(await PublicKeyCredential.isConditionalMediationAvailable?.())) return
      if (!ending.signal.aborted) await withPasskey({ signal: ending.signal, isOffered: true })
    }
    offer().catch(() => {})
    return () => ending.abort()
  }, [])
  return (
    <EnterFrame title={t.enter.signIn}>
      {hasPasskeys() && (
        <Action kind="primary" glyph="key" run={() => withPasskey()}>
          {t.enter.passkey}
        </Action>
      )}
      {hasMail ? (
        <>
          <p class="or">{t.enter.or}</p>
          <LinkForm path="/dashboard/sign_in/link" label={t.enter.mailLink} />
        </>
      ) : (
        <p class="dim">{t.enter.noMail}</p>
      )}
      {signup === 'open' && hasMail && (
        <p>
          <a href={href('/sign-up', null)}>{t.enter.toSignUp}</a>
        </p>
      )}
    </EnterFrame>
  )
}

function SignUp() {
  return (
    <EnterFrame title={t.enter.signUp} text={t.enter.signUpText}>
      <LinkForm path="/dashboard/sign_up" label={t.enter.mailLink} />
      <p>
        <a href={href('/sign-in', null)}>{t.enter.toSignIn}</a>
      </p>
    </EnterFrame>
  )
}

