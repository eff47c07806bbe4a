// When a request is worth asking again, and after how long.

import { type ApiError, ConnectionError, errorFrom, isApiError } from './errors.ts'

/** A longer wait than this is left to the caller. */
const LONGEST_WAIT_MS = 60_000
const FIRST_WAIT_MS = 500
const LONGEST_BACKOFF_MS = 8_000
const RETRIED = new Set([408, 429, 500, 502, 503, 504])

/** Waits, unless told to stop. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done, failed) => {
    signal?.throwIfAborted()
    const stop = () => {
      clearTimeout(timer)
      failed(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      done()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** How long to wait before this attempt, 1 being the first repetition; null when that is for the caller to decide. */
export function waitBefore(attempt: number, error: unknown): number | null {
  if (isApiError(error) && error.retryAfter !== null) {
    const asked = error.retryAfter * 1000
    return asked <= LONGEST_WAIT_MS ? asked : null
  }
  const most = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_BACKOFF_MS)
  return most / 2 + (Math.random() * most) / 2
}

/** Whether the same request may be answered differently later. */
export function canRetry(error: unknown): boolean {
  return error instanceof ConnectionError || (isApiError(error) && (RETRIED.has(error.status) || error.code === 'idempotency_key_in_use'))
}

/** The seconds of a `Retry-After` header, which may also name a date. */
function retryAfter(response: Response): number | null {
  const text = response.headers.get('retry-after')
  if (!text) return null
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

export async function refusal(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null)
  return errorFrom(response.status, body, retryAfter(response))
}
