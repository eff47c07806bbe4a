// Refusals in words: what went wrong, and what to do about it.

import { Refused } from '#shared/api/ask.ts'
import { seconds } from '#shared/time.ts'
import { t } from '../texts/t.ts'
import { Declined } from './passkeys.ts'

export interface Problem {
  title: string
  remedy: string | null
  /** What the server's log calls the request, for refusals nobody expected. */
  requestId: string | null
}

export function problem(error: unknown): Problem {
  if (error instanceof Declined) return { title: t.declined, remedy: null, requestId: null }
  if (!(error instanceof Refused)) return { title: t.problemUnknown, remedy: t.shell.brokenText, requestId: null }
  const known = t.problems[error.code]
  const wait = error.retryAfterS === null ? null : t.problemWait(seconds(error.retryAfterS))
  if (known) return { title: known[0], remedy: wait ?? known[1], requestId: null }
  return {
    title: error.said?.message || t.problemUnknown,
    remedy: wait,
    requestId: error.status >= 500 ? (error.said?.requestId ?? null) : null,
  }
}

/** The field that a refusal is about, by the name the API knows it under. */
export const paramOf = (error: unknown): string | null => (error instanceof Refused ? (error.said?.param ?? null) : null)

/** A message beside its field need not name the field: "`amount` must be above zero" is "Must be above zero". */
export function besideField(message: string, param: string): string {
  const rest = [`\`${param}\` `, `${param} `].find((name) => message.startsWith(name))
  if (rest === undefined) return message
  const said = message.slice(rest.length)
  return said.charAt(0).toUpperCase() + said.slice(1)
}
