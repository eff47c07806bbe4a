// What stops a request until a person has done something: a passkey's yes, or signing in again. The page below stays as
// it is. The dialogs are in shell/interruptions.tsx.

import type { Confirmation } from '#shared/api/types.ts'
import type { Mode } from '../app/router.ts'
import { store } from '../app/store.ts'
import { Declined } from './passkeys.ts'
import { lost, session } from './session.ts'

export interface ToConfirm {
  /** What is confirmed, in words. */
  says: string | null
  mode: Mode | null
  begin: () => Promise<Confirmation>
  finish: (id: string, credential: unknown) => Promise<Confirmation>
}

export const confirming = store<(ToConfirm & { done: (id: string) => void; cancel: () => void }) | null>(null)

/** Opens the dialog that asks for a passkey, and gives the id of what was confirmed. */
export function confirmation(what: ToConfirm): Promise<string> {
  return new Promise((resolve, reject) => {
    confirming.set({
      ...what,
      done: (id) => {
        confirming.set(null)
        resolve(id)
      },
      cancel: () => {
        confirming.set(null)
        reject(new Declined())
      },
    })
  })
}

let waiting: Promise<void> | null = null
let resume: (() => void) | null = null

/** Resolves once somebody has signed in again. All requests of the page wait for the same. */
export function signInAgain(): Promise<void> {
  waiting ??= new Promise((resolve) => {
    resume = resolve
    lost.set({ email: session()?.user.email ?? '' })
  })
  return waiting
}

export function signedInAgain(): void {
  const go = resume
  waiting = null
  resume = null
  lost.set(null)
  go?.()
}
