// What comes between a request and its answer: a passkey's yes, and signing in again. The page below stays.

import { useState } from 'preact/hooks'
import type { Ceremony, Session } from '#shared/api/types.ts'
import { get, post } from '../api/client.ts'
import { confirming, signedInAgain } from '../api/interrupt.ts'
import { usePasskey } from '../api/passkeys.ts'
import { lost, session, signedIn } from '../api/session.ts'
import { base, hasMail } from '../app/server.ts'
import { Buttons, Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { Notice, Problem } from '../parts/notice.tsx'
import { Factors } from '../screens/enter/second-factor.tsx'
import { t } from '../texts/t.ts'

export function Interruptions() {
  const asked = confirming.use()
  const ended = lost.use()
  return (
    <>
      {asked && <Confirm key={asked.says} {...asked} />}
      {ended && <SignInAgain email={ended.email} />}
    </>
  )
}

type Asked = NonNullable<ReturnType<typeof confirming.get>>

function Confirm({ says, mode, begin, finish, done, cancel }: Asked) {
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const go = async () => {
    setBusy(true)
    setError(null)
    try {
      const { id, options } = await begin()
      const credential = await usePasskey(options)
      await finish(id, credential)
      done(id)
    } catch (refused) {
      setError(refused)
      setBusy(false)
    }
  }
  return (
    <Dialog title={t.confirm.title} onClose={cancel}>
      <p>{says ? t.confirm.text(says) : t.confirm.plain}</p>
      {mode === 'live' && <Notice tone="warn">{t.confirm.live}</Notice>}
      {error !== null && <Problem error={error} />}
      <Buttons>
        <button type="button" class="btn" onClick={cancel}>
          {t.common.cancel}
        </button>
        <button type="button" class="btn primary" aria-disabled={isBusy} onClick={() => !isBusy && void go()}>
          <Icon name="key" />
          {t.confirm.use}
        </button>
      </Buttons>
    </Dialog>
  )
}

function SignInAgain({ email }: { email: string }) {
  const [error, setError] = useState<unknown>(null)
  const [isSent, setSent] = useState(false)
  /** A link was opened, and the second factor is still to come: it is given here, and the page below stays. */
  const [pending, setPending] = useState<Session | null>(null)
  /** Whoever it is now goes on; somebody else gets a page of their own. */
  const entered = (now: Session) => {
    setPending(now.state === 'active' ? null : now)
    if (now.state !== 'active') return
    if (now.user?.id !== session()?.user.id) return location.reload()
    signedIn(now)
    signedInAgain()
  }
  const attempt = (what: () => Promise<void>) => async () => {
    setError(null)
    await what().catch(setError)
  }
  const passkey = attempt(async () => {
    const { id, options } = await post<Ceremony>('/dashboard/sign_in/passkey/begin', undefined, { isEntering: true })
    entered(await post<Session>('/dashboard/sign_in/passkey', { ceremony: id, credential: await usePasskey(options) }, { isEntering: true }))
  })
  const link = attempt(async () => {
    await post('/dashboard/sign_in/link', { email }, { isEntering: true })
    setSent(true)
  })
  const check = attempt(async () => entered(await get<Session>('/dashboard/session', {}, { isEntering: true })))
  return (
    <Dialog title={t.lost.title} onClose={() => {}}>
      <p>{t.lost.text}</p>
      {error !== null && <Problem error={error} />}
      {isSent && !pending && <Notice tone="info">{t.lost.linkSent}</Notice>}
      {pending && (
        <>
          <p>{t.enter.secondText}</p>
          <Factors session={pending} done={entered} />
        </>
      )}
      <Buttons>
        <a class="btn" href={`${base}/sign-in`} target="_self">
          {t.lost.leave}
        </a>
        {hasMail && !isSent && !pending && (
          <button type="button" class="btn" onClick={link}>
            {t.lost.link}
          </button>
        )}
        {!pending && (
          <>
            <button type="button" class="btn" onClick={check}>
              {t.lost.check}
            </button>
            <button type="button" class="btn primary" onClick={passkey}>
              <Icon name="key" />
              {t.lost.passkey}
            </button>
          </>
        )}
      </Buttons>
    </Dialog>
  )
}
