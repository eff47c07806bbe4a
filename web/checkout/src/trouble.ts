// Refusals in the payer's words.

import { Refused } from '#shared/api/ask.ts'
import { seconds } from '#shared/time.ts'
import { t, type Word } from './words/words.ts'

const WAIT_S = 20

/** What to say when something was tried and refused; `known` are the codes that have words of their own. */
export function trouble(error: unknown, known: Partial<Record<string, Word>> = {}): string {
  if (!(error instanceof Refused)) return t('pay.not_now')
  const word = known[error.code]
  if (word) return t(word)
  if (error.status === 429) return t('pay.slow_down', { time: seconds(error.retryAfterS ?? WAIT_S) })
  return error.status === 0 ? t('pay.offline') : t('pay.not_now')
}
