// How calls are made: with a key, again when that can help, and always with the same idempotency key.

import { ConnectionError, TillError, isApiError } from './errors.ts'
import { Pages } from './pages.ts'
import { canRetry, pause, refusal, waitBefore } from './retry.ts'
import { resumingStream, type StreamOptions } from './stream.ts'
import type { Page } from './types.ts'

export interface TillOptions {
  /** Where the server is, such as `https://pay.example.com`. */
  url: string
  /** A secret key on a server; a publishable key in a browser. */
  key: string
  /** How often a call that failed is tried again. Default: 3. */
  maxRetries?: number
  /** How long one attempt may take. Default: 30 seconds. */
  timeoutMs?: number
  /** What is used instead of the global `fetch`. */
  fetch?: typeof fetch
}

export interface RequestOptions {
  /** For a POST. By default each call gets one of its own; give yours to repeat a call that an earlier process may have made. */
  idempotencyKey?: string
  signal?: AbortSignal
}

/** One request of the API. */
export interface Call {
  method: string
  path: string
  query?: object
  body?: object
}

/** One segment of a path, whatever it holds. */
export function segment(text: string): string {
  if (text === '' || text === '.' || text === '..') throw new TillError(`${JSON.stringify(text)} is no id`)
  return encodeURIComponent(text)
}

/** Also in a page that came without TLS, which has no `randomUUID`. */
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** A path for people and their logs: a claim's token is as good as a key. */
const shown = (path: string) => path.replace(/(\/refund_claims\/).+/, '$1…')

function address(url: string): string {
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url)) throw new TillError(`${JSON.stringify(url)} is no address of a server`)
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/$/, '')
}

/** Makes the requests of one client. */
export class Requests {
  readonly #url: string
  readonly #key: string
  readonly #maxRetries: number
  readonly #timeoutMs: number
  readonly #fetch: typeof fetch

  constructor(options: TillOptions) {
    if (!options.key) throw new TillError('there is no key')
    if (!/_pk_/.test(options.key) && 'document' in globalThis) {
      throw new TillError('a page must not have a secret key: whoever opens it could read it')
    }
    this.#url = address(options.url)
    this.#key = options.key
    this.#maxRetries = options.maxRetries ?? 3
    this.#timeoutMs = options.timeoutMs ?? 30_000
    const own = options.fetch ?? globalThis.fetch
    // A browser's fetch wants to be called as the window's own.
    this.#fetch = (...given) => own(...given)
  }

  request<Answer>(call: Call, options: RequestOptions): Promise<Answer> {
    return this.#repeat(call, options, (response) => response.json() as Promise<Answer>)
  }

  requestText(call: Call, options: RequestOptions): Promise<string> {
    return this.#repeat(call, options, (response) => response.text())
  }

  pages<Item>(call: Call & { query?: { cursor?: string } }, options: RequestOptions): Pages<Item> {
    const fetchPage = (cursor: string | undefined): Promise<Page<Item>> =>
      this.request({ ...call, query: { ...call.query, cursor } }, options)
    return new Pages(fetchPage, call.query?.cursor)
  }

  stream<Event extends { id: number }>(path: string, options: StreamOptions): AsyncIterableIterator<Event> {
    const open = (headers: Record<string, string>, signal: AbortSignal) =>
      this.#fetch(this.#url + path, { headers: { ...this.#authorization(), ...headers }, redirect: 'error', signal })
    return resumingStream(open, this.#maxRetries, options)
  }

  #authorization(): Record<string, string> {
    return { authorization: `Bearer ${this.#key}` }
  }

  async #repeat<Answer>(call: Call, options: RequestOptions, read: (response: Response) => Promise<Answer>): Promise<Answer> {
    const idempotencyKey = call.method === 'GET' ? null : (options.idempotencyKey ?? newKey())
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(call, idempotencyKey, options.signal, read)
      } catch (error) {
        const wait = attempt <= this.#maxRetries && canRetry(error) ? waitBefore(attempt, error) : null
        if (wait === null) throw error
        await pause(wait, options.signal)
      }
    }
  }

  async #once<Answer>(
    call: Call,
    idempotencyKey: string | null,
    signal: AbortSignal | undefined,
    read: (response: Response) => Promise<Answer>,
  ): Promise<Answer> {
    const url = new URL(this.#url + call.path)
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value))
    }
    const headers = this.#authorization()
    if (idempotencyKey !== null) headers['idempotency-key'] = idempotencyKey
    if (call.body) headers['content-type'] = 'application/json'
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    try {
      const response = await this.#fetch(url.href, {
        method: call.method,
        headers,
        redirect: 'error',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        ...(call.body ? { body: JSON.stringify(call.body) } : {}),
      })
      if (!response.ok) throw await refusal(response)
      return await read(response)
    } catch (error) {
      signal?.throwIfAborted()
      if (isApiError(error)) throw error
      throw new ConnectionError(`${call.method} ${shown(call.path)} was not answered`, idempotencyKey, error)
    }
  }
}
