import type { Ceremony, Session } from '#shared/api/types.ts'
import { post, setPendingCsrf } from '../../api/client.ts'
import { hasPasskeys, usePasskey } from '../../api/passkeys.ts'
import { signedIn } from '../../api/session.ts'
import { Action } from '../../parts/action.tsx'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { signOut } from '../../shell/sign-out.ts'
import { t } from '../../texts/t.ts'
import { EnterFrame } from './frame.tsx'

const entering = { isEntering: true } as const

/** A link alone is not enough for who has a passkey or codes. */
export function SecondFactor({ session }: { session: Session }) {
  setPendingCsrf(session.csrf_token)
  const give = async (body: object) => signedIn(await post<Session>('/dashboard/sign_in/second_factor', body, entering))
  const form = useForm({ code: '' }, ({ code }) => give({ code: code.replace(/\s/g, '') }))
  const passkey = async () => {
    const { id, options } = await post<Ceremony>('/dashboard/sign_in/second_factor/begin', undefined, entering)
    await give({ ceremony: id, credential: await usePasskey(options) })
  }
  return (
    <EnterFrame title={t.enter.second} text={t.enter.secondText}>
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
      <p>
        <button type="button" class="link" onClick={() => void signOut()}>
          {t.enter.otherPerson}
        </button>
      </p>
    </EnterFrame>
  )
}
