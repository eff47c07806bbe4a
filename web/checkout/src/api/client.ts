// Asking the API with a publishable key.

import { ask, askUntilSure, freshKey } from '#shared/api/ask.ts'
import type { Reader } from '#shared/api/read.ts'

export interface Api {
  url: string
  key: string | null
}

/** How far this machine's clock is behind the one that decides about the invoice. */
let offsetMs = 0
export const nowMs = () => Date.now() + offsetMs
/** An answer that has just come says when it was given. */
export const setNow = (at: string) => {
  offsetMs = Date.parse(at) - Date.now()
}

const json = async (response: Response): Promise<unknown> => response.json().catch(() => null)

function place(api: Api, path: string, query: Record<string, string>): URL {
  const url = new URL(api.url.replace(/\/$/, '') + path)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url
}

/** The key goes into the query, which spares other origins a preflight; it is a publishable one. */
export async function get<T>(api: Api, path: string, read: Reader<T>, query: Record<string, string> = {}): Promise<T> {
  const all = api.key === null ? query : { ...query, key: api.key }
  return read(await json(await ask(place(api, path, all), { headers: { accept: 'application/json' }, credentials: 'omit' })))
}

export async function post<T>(api: Api, path: string, body: unknown, read: Reader<T>): Promise<T> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'idempotency-key': freshKey(),
  }
  if (api.key !== null) headers.authorization = `Bearer ${api.key}`
  const init: RequestInit = { method: 'POST', headers, body: JSON.stringify(body), credentials: 'omit' }
  return read(await json(await askUntilSure(place(api, path, {}), init)))
}

/** A part of a path that came from the address bar. */
export const segment = encodeURIComponent
