// Links from mails and from the command line: `/link#{kind}={token}`. The token leaves the address bar at once; it is used
// by a button for invitations, and by the page itself for signing in, since mail scanners do not run pages.

import { useEffect, useState } from 'preact/hooks'
import type { InviteOffer, Session } from '#shared/api/types.ts'
import { get, post, setPendingCsrf } from '../../api/client.ts'
import { chooseOrganization, session, signedIn, who } from '../../api/session.ts'
import { go } from '../../app/router.ts'
import { base, hasMail } from '../../app/server.ts'
import { Action } from '../../parts/action.tsx'
import { Bones } from '../../parts/loaded.tsx'
import { Notice, Problem } from '../../parts/notice.tsx'
import { Day } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { EnterFrame } from './frame.tsx'
import { SecondFactor } from './second-factor.tsx'

const entering = { isEntering: true } as const

type Kind = 'sign_in' | 'sign_up' | 'invite'

/** What the fragment says, or null when it is no link of ours. */
export function readLink(hash: string): { kind: Kind; token: string } | null {
  const [, kind, token] = /^#(sign_in|sign_up|invite)=([\w-]{20,200})$/.exec(hash) ?? []
  return kind && token ? { kind: kind as Kind, token } : null
}

/** Read once, before the address bar forgets it. */
let opened: ReturnType<typeof readLink> = null

export default function LinkPage() {
  const [link] = useState(() => {
    opened = readLink(location.hash) ?? opened
    history.replaceState(null, '', location.pathname)
    return opened
  })
  if (!link) {
    return (
      <EnterFrame title={t.enter.badLink}>
        <p>{t.enter.badLinkText}</p>
        <ToSignIn />
      </EnterFrame>
    )
  }
  return link.kind === 'invite' ? <Invite token={link.token} /> : <SignInLink kind={link.kind} token={link.token} />
}

const ToSignIn = () => (
  <p>
    <a class="btn" href={`${base}/sign-in`} target="_self">
      {t.enter.signIn}
    </a>
  </p>
)

function SignInLink({ kind, token }: { kind: 'sign_in' | 'sign_up'; token: string }) {
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    const path = kind === 'sign_in' ? '/dashboard/sign_in/link/confirm' : '/dashboard/sign_up/confirm'
    post<Session>(path, { token }, entering).then(arrived, setError)
  }, [kind, token])
  return (
    <EnterFrame title={t.enter.signIn}>
      {error === null ? (
        <Bones />
      ) : (
        <>
          <Problem error={error} />
          <ToSignIn />
        </>
      )}
    </EnterFrame>
  )
}

function arrived(now: Session): void {
  opened = null
  setPendingCsrf(now.csrf_token)
  signedIn(now)
  go(now.state === 'active' && now.user?.passkeys === 0 ? '/welcome' : '/', { mode: null, replace: true })
}

function Invite({ token }: { token: string }) {
  const now = who.use()
  const [offer, setOffer] = useState<InviteOffer | null>(null)
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    post<InviteOffer>('/dashboard/invites/open', { token }, entering).then(setOffer, setError)
  }, [token])
  const accept = async () => {
    const before = new Set(session()?.organizations.map((one) => one.id))
    const joining = await post<Session>('/dashboard/invites/accept', { token }, entering)
    const joined = joining.organizations.find((one) => !before.has(one.id))
    if (joined) chooseOrganization(joined.id)
    arrived(joining)
  }
  if (error !== null) {
    return (
      <EnterFrame title={t.enter.invite}>
        <Problem error={error} />
        <ToSignIn />
      </EnterFrame>
    )
  }
  if (!offer) {
    return (
      <EnterFrame title={t.enter.invite}>
        <Bones />
      </EnterFrame>
    )
  }
  if (now.kind === 'out' && now.pending) return <SecondFactor session={now.pending} />
  const user = session()?.user
  const isOther = user !== undefined && user.email.toLowerCase() !== offer.email.toLowerCase()
  return (
    <EnterFrame title={t.enter.inviteTo(offer.organization.name)} text={t.enter.inviteText(offer.email, t.roles[offer.role] ?? offer.role)}>
      <p class="dim">
        {t.enter.inviteUntil} <Day at={offer.expires_at} />
      </p>
      {isOther && <Notice tone="warn">{t.enter.inviteOther(user.email, offer.email)}</Notice>}
      {offer.user_exists && !user ? (
        <>
          <Notice tone="info">{t.enter.inviteKnown(offer.email)}</Notice>
          <KnownUser email={offer.email} />
        </>
      ) : (
        !isOther && (
          <Action kind="primary" run={accept}>
            {t.enter.accept}
          </Action>
        )
      )}
    </EnterFrame>
  )
}

/** Who has an account signs in first, here or by a link in another tab; the invitation waits in this one. */
function KnownUser({ email }: { email: string }) {
  const [isSent, setSent] = useState(false)
  const withKey = async () => {
    const { withPasskey } = await import('./enter.tsx')
    await withPasskey()
  }
  const mail = async () => {
    await post('/dashboard/sign_in/link', { email }, entering)
    setSent(true)
  }
  const look = async () => {
    const now = await get<Session>('/dashboard/session', {}, entering)
    setPendingCsrf(now.csrf_token)
    signedIn(now)
  }
  return (
    <>
      <Action kind="primary" glyph="key" run={withKey}>
        {t.enter.passkey}
      </Action>
      <p class="or">{t.enter.or}</p>
      {hasMail ? isSent ? <Notice tone="info">{t.lost.linkSent}</Notice> : <div><Action run={mail}>{t.enter.mailLink}</Action></div> : <p class="dim">{t.enter.noMail}</p>}
      <div>
        <Action run={look}>{t.lost.check}</Action>
      </div>
    </>
  )
}
