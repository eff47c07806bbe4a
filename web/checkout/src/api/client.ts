// Asking the API: one place that knows keys, idempotency, retries and what a refusal looks like.

import type { Reader } from './read.ts'

/** The API said no, or could not be reached. */
export class Refused extends Error {
  override name = 'Refused'
  constructor(
    /** 0 when there was no answer at all. */
    readonly status: number,
    readonly code: string,
    readonly retryAfterS: number | null,
  ) {
    super(code)
  }
  get isTransient() {
    return this.status === 0 || this.status >= 500
  }
  /** What was asked for is not there, or not for this key. */
  get isMissing() {
    return this.status >= 400 && this.status < 500 && this.status !== 429
  }
}

export interface Api {
  url: string
  key: string | null
}

/** How long an answer may take before the connection counts as lost. */
const TIMEOUT_MS = 15_000
/** Waits before a POST is sent again under the same key. */
const RETRY_MS = [500, 2_000]

/** How far this machine's clock is behind the one that decides about the invoice. */
let offsetMs = 0
export const nowMs = () => Date.now() + offsetMs
/** An answer that has just come says when it was given. */
export const setNow = (at: string) => {
  offsetMs = Date.parse(at) - Date.now()
}

async function ask<T>(url: URL, init: RequestInit, read: Reader<T>): Promise<T> {
  let response: Response
  try {
    response = await fetch(url, { ...init, credentials: 'omit', signal: AbortSignal.timeout(TIMEOUT_MS) })
  } catch {
    throw new Refused(0, 'offline', null)
  }
  const body: unknown = await response.json().catch(() => null)
  if (response.ok) return read(body)
  const code = (body as { error?: { code?: unknown } } | null)?.error?.code
  const after = /^[0-9]{1,5}$/.exec(response.headers.get('retry-after') ?? '')?.[0]
  throw new Refused(response.status, typeof code === 'string' ? code : 'unknown', after ? Number(after) : null)
}

function place(api: Api, path: string, query: Record<string, string>): URL {
  const url = new URL(api.url.replace(/\/$/, '') + path)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url
}

/** The key goes into the query, which spares other origins a preflight; it is a publishable one. */
export function get<T>(api: Api, path: string, read: Reader<T>, query: Record<string, string> = {}): Promise<T> {
  const all = api.key === null ? query : { ...query, key: api.key }
  return ask(place(api, path, all), { headers: { accept: 'application/json' } }, read)
}

export async function post<T>(api: Api, path: string, body: unknown, read: Reader<T>): Promise<T> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'idempotency-key': freshKey(),
  }
  if (api.key !== null) headers.authorization = `Bearer ${api.key}`
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  for (const wait of RETRY_MS) {
    try {
      return await ask(place(api, path, {}), init, read)
    } catch (error) {
      if (!(error instanceof Refused && error.isTransient)) throw error
      await new Promise((resume) => setTimeout(resume, wait))
    }
  }
  return ask(place(api, path, {}), init, read)
}

function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** A part of a path that came from the address bar. */
export const segment = encodeURIComponent
