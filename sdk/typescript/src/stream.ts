// Live streams: server-sent events that go on where they broke off, each event once.

import { ApiError, ConnectionError } from './errors.ts'
import { canRetry, pause, refusal, waitBefore } from './retry.ts'

export interface StreamOptions {
  /** Begins after this event's number; 0 or nothing begins with the first. */
  after?: number
  signal?: AbortSignal
}

/** The server says something every 15 seconds: after three times that the connection is taken for lost. */
const SILENCE_MS = 45_000

const LONGEST_RETRY_MS = 60_000

type Open = (headers: Record<string, string>, signal: AbortSignal) => Promise<Response>

/** What a stream says about itself; an event is what it says to its reader. */
interface Health {
  /** How long the server wants to be left alone after a break. */
  retryMs: number
  failures: number
}

/** The events of a stream over all its connections. */
export async function* resumingStream<Event extends { id: number }>(
  open: Open,
  maxRetries: number,
  { after = 0, signal }: StreamOptions,
): AsyncIterableIterator<Event> {
  let last = after
  const health: Health = { retryMs: 0, failures: 0 }
  for (;;) {
    signal?.throwIfAborted()
    const connection = new AbortController()
    const stop = () => connection.abort(signal?.reason)
    signal?.addEventListener('abort', stop, { once: true })
    let failure: unknown
    try {
      const resume = last > 0 ? { 'last-event-id': String(last) } : undefined
      const response = await open({ accept: 'text/event-stream', ...resume }, connection.signal)
      if (!response.ok || !response.body) throw await refusal(response)
      for await (const text of messages(response.body, connection, health)) {
        const event = JSON.parse(text) as Event
        if (event.id <= last) continue
        last = event.id
        yield event
      }
    } catch (error) {
      signal?.throwIfAborted()
      failure = error instanceof ApiError ? error : new ConnectionError('the stream broke off', null, error)
      if (!canRetry(failure)) throw failure
    } finally {
      signal?.removeEventListener('abort', stop)
      connection.abort()
    }
    // A stream that merely ended is asked for again, too: a server that restarts ends its streams.
    health.failures += 1
    const wait = health.failures <= maxRetries ? waitBefore(health.failures, failure) : null
    if (wait === null) throw failure ?? new ConnectionError('the stream ends each time it is opened', null, undefined)
    await pause(Math.max(wait, health.retryMs), signal)
  }
}

/** The data of each message that arrives whole. */
async function* messages(body: ReadableStream<Uint8Array>, connection: AbortController, health: Health): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const silence = setTimeout(() => connection.abort(new Error('the server fell silent')), SILENCE_MS)
    const { done, value } = await reader.read().finally(() => clearTimeout(silence))
    if (done) return
    rest += decoder.decode(value, { stream: true })
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const data: string[] = []
      for (const line of block.split('\n')) {
        const [, field = '', text = ''] = /^(\w*): ?(.*)$/.exec(line) ?? []
        if (field === 'data') data.push(text)
        if (field === 'retry' && /^\d+$/.test(text)) health.retryMs = Math.min(Number(text), LONGEST_RETRY_MS)
        // An event or a heartbeat: this connection was worth opening.
        if (field === 'data' || line.startsWith(':')) health.failures = 0
      }
      if (data.length > 0) yield data.join('\n')
    }
  }
}
