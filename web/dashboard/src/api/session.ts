// Who is signed in, for which organisation this tab works, and what they may do.

import type { Organization, Session, User } from '#shared/api/types.ts'
import { recall, remember } from '#shared/keep.ts'
import { place } from '../app/router.ts'
import { store } from '../app/store.ts'
import { may as granted, type Permission, type Role } from './roles.ts'

export type Who =
  | { kind: 'loading' }
  /** Nobody, or a link was opened that still needs a second factor. */
  | { kind: 'out'; pending: Session | null }
  | { kind: 'in'; session: Session & { user: User } }

export const who = store<Who>({ kind: 'loading' })

/** The session that was lost while a page was open: a dialog asks to sign in again, and the page stays. */
export const lost = store<{ email: string } | null>(null)

export function signedIn(session: Session): void {
  const { user } = session
  who.set(session.state === 'active' && user !== null ? { kind: 'in', session: { ...session, user } } : { kind: 'out', pending: session })
}

export function session(): (Session & { user: User }) | null {
  const now = who.get()
  return now.kind === 'in' ? now.session : null
}

const chosen = store(recall('account'))

/** The organisation this tab works for: the chosen one, or the first. */
export function organization(): Organization | null {
  const all = session()?.organizations ?? []
  return all.find((one) => one.id === chosen.get()) ?? all[0] ?? null
}

export function useOrganization(): Organization | null {
  who.use()
  chosen.use()
  return organization()
}

export function chooseOrganization(id: string): void {
  remember('account', id)
  chosen.set(id)
}

/** A new name or another role: the session is read anew with the next page; until then this is true. */
export function updateOrganization(changed: Organization): void {
  const now = session()
  if (now) signedIn({ ...now, organizations: now.organizations.map((one) => (one.id === changed.id ? changed : one)) })
}

export function updateUser(user: User): void {
  const now = session()
  if (now) signedIn({ ...now, user })
}

/** Whether the caller's role allows it in the mode that is shown. The server decides; this only spares dead buttons. */
export function may(permission: Permission): boolean {
  const role = organization()?.role as Role | null | undefined
  return role != null && granted(role, permission, place().mode ?? 'test')
}
