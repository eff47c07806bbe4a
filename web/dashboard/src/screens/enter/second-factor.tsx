import type { Ceremony, Session } from '#shared/api/types.ts'
import { post, setPendingCsrf } from '../../api/client.ts'
import { hasPasskeys, usePasskey } from '../../api/passkeys.ts'
import { signedIn } from '../../api/session.ts'
import { Action } from '../../parts/action.tsx'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { signOut } from '../../shell/sign-out.ts'
import { t } from '../../texts/t.ts'
import { EnterFrame } from './frame.tsx'

/** A passkey or a code, whichever the user has. */
export function Factors({ session, done }: { session: Session; done: (now: Session) => void }) {
  const how = { isEntering: true, ...(session.csrf_token === null ? {} : { csrf: session.csrf_token }) }
  const give = async (body: object) => done(await post<Session>('/dashboard/sign_in/second_factor', body, how))
  const form = useForm({ code: '' }, ({ code }) => give({ code: code.replace(/\s/g, '') }))
  const passkey = async () => {
    const { id, options } = await post<Ceremony>('/dashboard/sign_in/second_factor/begin', undefined, how)
    await give({ ceremony: id, credential: await usePasskey(options) })
  }
  return (
    <>
      {session.second_factors.includes('passkey') && hasPasskeys() && (
        <Action kind="primary" glyph="key" run={passkey}>
          {t.enter.usePasskey}
        </Action>
      )}
      {session.second_factors.includes('totp') && (
        <form class="stack" onSubmit={form.submit}>
          <TextField form={form} name="code" label={t.enter.code} hint={t.enter.codeHint} autocomplete="one-time-code" inputMode="numeric" />
          <Submit form={form}>{t.common.next}</Submit>
        </form>
      )}
    </>
  )
}

/** A link alone is not enough for who has a passkey or codes. */
export function SecondFactor({ session }: { session: Session }) {
  setPendingCsrf(session.csrf_token)
  return (
    <EnterFrame title={t.enter.second} text={t.enter.secondText}>
      <Factors session={session} done={signedIn} />
      <p>
        <button type="button" class="link" onClick={() => void signOut()}>
          {t.enter.otherPerson}
        </button>
      </p>
    </EnterFrame>
  )
}
