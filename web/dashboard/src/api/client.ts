// Asking the API as the person who is signed in.
//
// - Every request says its mode and organisation; nothing of it is remembered by the server.
// - A POST carries the session's token against forgery and a key under which it is repeated while nobody knows
//   whether it arrived, also when the person presses the button once more.
// - A request that needs a passkey's yes gets it: a dialog asks, and the request is sent again with it.
// - A session that has ended opens a dialog over the page; whoever signs in again goes on where they were.

import { ask, askUntilSure, freshKey, Refused } from '#shared/api/ask.ts'
import type { Confirmation, Session } from '#shared/api/types.ts'
import { type Mode, place } from '../app/router.ts'
import * as server from '../app/server.ts'
import { confirmation, signInAgain } from './interrupt.ts'
import { organization, session, signedIn } from './session.ts'

export interface List<T> {
  data: T[]
  next_cursor: string | null
}

export type Query = Record<string, string | number | null | undefined>

interface How {
  /** Another mode than the one that is shown. */
  mode?: Mode
  /** Another organisation than this tab's. */
  account?: string
  /** What a passkey is asked to say yes to, in words, should the request need one. */
  says?: string
  /** Answers 401 like any other refusal: for asking who is signed in, and for signing in. */
  isEntering?: boolean
  /** The token against forgery of a session that waits for its second factor while the page of another is open. */
  csrf?: string
}

function headers(how: How): Record<string, string> {
  const account = how.account ?? organization()?.id
  const mode = how.mode ?? place().mode
  const csrf = how.csrf ?? session()?.csrf_token ?? pendingCsrf
  return {
    accept: 'application/json',
    ...(mode ? { 'till-mode': mode } : {}),
    ...(account ? { 'till-account': account } : {}),
    ...(csrf ? { 'till-csrf': csrf } : {}),
  }
}

/** Of a session that waits for its second factor. */
let pendingCsrf: string | null = null
export function setPendingCsrf(token: string | null): void {
  pendingCsrf = token
}

function url(path: string, query: Query = {}): URL {
  const to = new URL(server.api + path)
  for (const [name, value] of Object.entries(query)) if (value != null && value !== '') to.searchParams.set(name, String(value))
  return to
}

const hasEnded = (error: unknown) => error instanceof Refused && (error.code === 'session_missing' || error.code === 'session_expired')
const isCode = (error: unknown, code: string) => error instanceof Refused && error.code === code

/** Goes on after the session ended and somebody signed in again. */
async function inSession<T>(how: How, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    // Signing in gave this session a new token against forgery in another tab.
    if (isCode(error, 'csrf_failed') && !how.isEntering) {
      await refreshSession()
      return attempt()
    }
    if (!hasEnded(error) || how.isEntering) throw error
    await signInAgain()
    return attempt()
  }
}

export async function response(path: string, query: Query = {}, how: How = {}, signal?: AbortSignal): Promise<Response> {
  return inSession(how, () => ask(url(path, query), { headers: headers(how), ...(signal ? { signal } : {}) }))
}

export async function get<T>(path: string, query: Query = {}, how: How = {}): Promise<T> {
  return (await response(path, query, how)).json() as Promise<T>
}

/** Keys of requests whose answer nobody knows, by what was asked: pressing the button again repeats them. */
const unsure = new Map<string, string>()

export async function post<T>(path: string, body?: unknown, how: How = {}): Promise<T> {
  const text = body === undefined ? null : JSON.stringify(body)
  const content = [how.mode ?? place().mode, how.account ?? organization()?.id, path, text].join('\n')
  const send = async (confirmed: string | null): Promise<T> => {
    const key = unsure.get(content) ?? freshKey()
    unsure.set(content, key)
    const init: RequestInit = {
      method: 'POST',
      headers: {
        ...headers(how),
        'idempotency-key': key,
        ...(text === null ? {} : { 'content-type': 'application/json' }),
        ...(confirmed ? { 'till-confirmation': confirmed } : {}),
      },
      ...(text === null ? {} : { body: text }),
    }
    try {
      const answer = (await (await askUntilSure(url(path), init)).json()) as T
      unsure.delete(content)
      return answer
    } catch (error) {
      if (error instanceof Refused && !error.isTransient && error.code !== 'idempotency_key_in_use') unsure.delete(content)
      throw error
    }
  }
  return inSession(how, async () => {
    try {
      return await send(null)
    } catch (error) {
      if (!isCode(error, 'step_up_required')) throw error
      return send(await confirm(path, text, how))
    }
  })
}

/** A passkey's yes to exactly this request. */
async function confirm(path: string, text: string | null, how: How): Promise<string> {
  const bytes = new TextEncoder().encode(text ?? '')
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const body_sha256 = Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const { says: _, ...same } = how
  return confirmation({
    says: how.says ?? null,
    mode: how.mode ?? place().mode,
    begin: () => post<Confirmation>('/dashboard/confirmations', { path: `/v1${path}`, body_sha256 }, same),
    finish: (id, credential) => post<Confirmation>(`/dashboard/confirmations/${id}`, { credential }, same),
  })
}

/** Asks who is signed in. */
export async function refreshSession(): Promise<void> {
  signedIn(await get<Session>('/dashboard/session', {}, { isEntering: true }))
}

/** A part of a path that came from elsewhere. */
export const segment = encodeURIComponent
