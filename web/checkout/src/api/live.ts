// Staying up to date: the server's event stream says that something changed, a GET says what. Where
// streams do not get through, asking every few seconds does the same.

import { news } from './shapes.ts'

/** How asking went: null when it was answered, otherwise how long the server wants to be left alone. */
export type Missed = { afterMs: number } | null

interface Follow {
  /** The stream's address. */
  url: string
  /** Fetches the invoice. */
  refresh: () => Promise<Missed>
  /** The browser says that there is no connection any more. */
  lost: () => void
  /** The status that the stream says the invoice has now. */
  told: (status: string) => void
  /** When a payment was first seen, which only the stream says. */
  seen: (at: string) => void
  /** What the page shows, in the words of `mark`: an event that says the same is no news. */
  shown: () => string
  /** How often to ask when no stream is open, and how often beside one; null for never. */
  everyMs: () => { alone: number | null; beside: number | null }
}

export interface Live {
  /** Asks now, and goes on from there. */
  refresh: () => Promise<void>
  /** What is shown changed otherwise: when to ask next may be another time now. */
  schedule: () => void
  stop: () => void
}

const EVENTS = [
  'created',
  'awaiting_payment',
  'detected',
  'confirming',
  'paid',
  'partially_paid',
  'overpaid',
  'paid_late',
  'expired',
  'under_review',
  'cancelled',
]

/** On connecting all past events come at once: they are one piece of news. */
const GATHER_MS = 40
const ERRORS_MAX = 2
/** How long to do without a stream before trying one again. */
const STREAM_AGAIN_MS = 60_000
/** After a question that was not answered, the next is asked this soon, then half as often each time. */
const RETRY_MS = 2_000
const RETRY_MAX_MS = 30_000

/** When to ask again after so many questions in a row were not answered. */
export const retryMs = (missed: number, afterMs: number) => Math.max(afterMs, Math.min(RETRY_MS * 2 ** (missed - 1), RETRY_MAX_MS))

/** What tells one state of an invoice from the next, as far as payers see. */
export function mark(invoice: { status: string; payments: { tx_hash: string; finality: string; status: string }[] }): string {
  const payments = invoice.payments.map((one) => `${one.tx_hash} ${one.finality} ${one.status}`)
  return [invoice.status, ...payments].join('\n')
}

/** Follows an invoice, from its first answer on, until it is stopped. */
export function follow(on: Follow): Live {
  let stream: EventSource | null = null
  let errors = 0
  let missed = 0
  let afterMs = 0
  let latest = { id: 0, mark: '' }
  let gathering: ReturnType<typeof setTimeout> | undefined
  let polling: ReturnType<typeof setTimeout> | undefined
  let again: ReturnType<typeof setTimeout> | undefined
  let stopped = false

  const close = () => {
    stream?.close()
    stream = null
  }
  const schedule = () => {
    clearTimeout(polling)
    if (stopped) return
    const every = on.everyMs()
    // A question that was not answered is asked again, stream or not: the stream says each thing once.
    const wait = missed > 0 ? retryMs(missed, afterMs) : stream ? every.beside : every.alone
    if (wait !== null) polling = setTimeout(poll, wait)
  }
  const refresh = async () => {
    const how = await on.refresh()
    missed = how === null ? 0 : missed + 1
    afterMs = how?.afterMs ?? 0
    schedule()
  }
  const poll = () => (document.hidden ? schedule() : void refresh())

  const heard = (event: Event) => {
    errors = 0
    try {
      const told = news(JSON.parse((event as MessageEvent<string>).data))
      if (told.id > latest.id) {
        latest = { id: told.id, mark: mark(told.invoice) }
        on.told(told.invoice.status)
      }
      if (told.type === 'invoice.detected') on.seen(told.created_at)
    } catch {
      latest.mark = ''
    }
    clearTimeout(gathering)
    gathering = setTimeout(() => latest.mark !== on.shown() && void refresh(), GATHER_MS)
  }
  const failed = () => {
    errors += 1
    if (errors < ERRORS_MAX && stream?.readyState !== EventSource.CLOSED) return
    close()
    clearTimeout(again)
    again = setTimeout(open, STREAM_AGAIN_MS)
    void refresh()
  }
  const open = () => {
    close()
    if (stopped || document.hidden) return
    errors = 0
    stream = new EventSource(on.url)
    for (const name of EVENTS) stream.addEventListener(`invoice.${name}`, heard)
    stream.addEventListener('error', failed)
    schedule()
  }
  /** Phones suspend pages while another app is in front: what happened meanwhile is asked for at once. */
  const shown = () => {
    if (document.hidden) return
    if (stream === null || stream.readyState === EventSource.CLOSED) open()
    void refresh()
  }

  void refresh()
  open()
  document.addEventListener('visibilitychange', shown)
  addEventListener('online', shown)
  addEventListener('offline', on.lost)
  return {
    refresh,
    schedule,
    stop: () => {
      stopped = true
      close()
      for (const timer of [gathering, polling, again]) clearTimeout(timer)
      document.removeEventListener('visibilitychange', shown)
      removeEventListener('online', shown)
      removeEventListener('offline', on.lost)
    },
  }
}
