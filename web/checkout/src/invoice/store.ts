// What the invoice page shows: an answer of the server together with the verdict on every address in it.
// The two change in one step, so that no address is ever shown before its verdict.

import { Refused } from '#shared/api/ask.ts'
import { type Api, get, nowMs, post, segment, setNow } from '../api/client.ts'
import { follow, type Live, mark, type Missed } from '../api/live.ts'
import { Unreadable } from '#shared/api/read.ts'
import { type Invoice, invoice as readInvoice } from '../api/shapes.ts'
import { tokens } from '#shared/chain/tokens.ts'
import { isCheckable, type Verdict, verify } from '#shared/chain/verify.ts'
import type { Config } from '../config.ts'
import { recall, remember } from '#shared/keep.ts'
import { baseUnits, isZero } from '#shared/money.ts'

/** A way to pay. It has an address when one was leased, computed here and found to be the merchant's. */
export interface Way {
  asset: string
  symbol: string
  network: string
  network_name: string
  amount_due: string
  rate?: Invoice['payment_options'][number]['rate']
  address: string | null
  destination: string | null
}

/** Of Bitcoin, and of what this page does not know by name. */
const DECIMALS_MAX = 18

type Shown =
  | { kind: 'loading' }
  | { kind: 'failed'; why: Refused | null }
  | { kind: 'untrusted'; invoice: Invoice; why: 'mismatch' | 'unpinned' }
  | { kind: 'ready'; invoice: Invoice; ways: Way[]; hidden: number }

const isMissing = (shown: Shown) => shown.kind === 'failed' && shown.why !== null && shown.why.isMissing

export type Settled = Exclude<Shown, { kind: 'loading' | 'failed' }>

/** A way whose address may be shown. */
export interface CheckedWay extends Way {
  address: string
  destination: string
}
export const isChecked = (way: Way | null | undefined): way is CheckedWay => way?.address != null && way.destination !== null

/** While one of these holds, an address may be shown and is checked. What was paid in part is waited for only so long. */
export const isPayable = (invoice: Invoice) =>
  invoice.closed_at === null && (invoice.status === 'awaiting_payment' || invoice.status === 'partially_paid')
export const isUnderWay = (invoice: Invoice) => invoice.status === 'detected' || invoice.status === 'confirming'

/** Whether somebody could send the amount: something, and no finer than the asset is. */
const isSendable = ({ asset, amount_due: amount }: { asset: string; amount_due: string }) =>
  !isZero(amount) && baseUnits(amount, tokens[asset]?.decimals ?? DECIMALS_MAX) !== null

/** The only way to pay, which nobody has to choose. */
export const onlyWay = (ways: Way[], hidden: number): Way | null =>
  ways.length === 1 && hidden === 0 && ways[0]?.address ? ways[0] : null

/** Puts an answer and the verdicts on its addresses together. */
export async function judge(invoice: Invoice, config: Config): Promise<Shown> {
  if (!isPayable(invoice)) return { kind: 'ready', invoice, ways: [], hidden: 0 }
  if (![...invoice.payment_options, ...invoice.pending_options].every(isSendable)) throw new Unreadable('an amount to send')
  const verdicts: Verdict[] = await Promise.all(invoice.payment_options.map((option) => verify(option, config)))
  if (verdicts.some((verdict) => verdict.kind === 'mismatch')) return { kind: 'untrusted', invoice, why: 'mismatch' }
  const ways: Way[] = []
  invoice.payment_options.forEach((option, at) => {
    const verdict = verdicts[at]
    if (verdict?.kind === 'checked') ways.push({ ...option, address: verdict.address, destination: verdict.destination })
  })
  const leased = new Set(invoice.payment_options.map((option) => option.asset))
  const pending = invoice.pending_options.filter((option) => !leased.has(option.asset))
  for (const option of pending) {
    // What could not be checked afterwards is not leased in the first place.
    if (isCheckable(option.network, config)) ways.push({ ...option, address: null, destination: null })
  }
  const hidden = invoice.payment_options.length + pending.length - ways.length
  if (ways.length === 0) return { kind: 'untrusted', invoice, why: 'unpinned' }
  return { kind: 'ready', invoice, ways, hidden }
}

const SOON_MS = 5_000
const SLOW_MS = 30_000
const MINUTE_MS = 60_000
/** How long an address stays after the stream said that the invoice changed, while the answer is on its way. */
const UNSURE_MS = 2_000
/** What a server that says "too many" and not for how long is given. */
const WAIT_S = 20

/** How often to ask where no stream is open, and how often beside one, which does not say everything. */
export function often(invoice: Invoice, now: number): { alone: number | null; beside: number | null } {
  // Levels below the one that credits are not announced, so they are asked for.
  if (isUnderWay(invoice)) return { alone: invoice.status === 'detected' ? SOON_MS : SLOW_MS, beside: SLOW_MS }
  if (!isPayable(invoice)) return { alone: SLOW_MS, beside: isHeld(invoice, now) ? MINUTE_MS : null }
  // Nor is a second payment when it is first seen, and its payer must not be asked to send it again.
  if (invoice.status === 'partially_paid') return { alone: SOON_MS, beside: 2 * SOON_MS }
  // Credit lowers a renewal, and a merchant who tries things out moves the clock: no event says so.
  return { alone: Date.parse(invoice.expires_at) < now ? SLOW_MS : SOON_MS, beside: MINUTE_MS }
}

/** Whether money that comes late would still be found here, which changes no status and is not announced. */
const isHeld = ({ closed_at, paid_at, address_held_until: until }: Invoice, now: number) =>
  closed_at !== null && paid_at === null && until !== null && now < Date.parse(until)

export interface Store {
  current: () => Shown
  /** Whether the last attempt to ask the server failed. */
  isStale: () => boolean
  /** Whether the invoice is known to have changed, and not into what: nothing is to be sent then. */
  isUnsure: () => boolean
  refresh: () => Promise<void>
  pick: (asset: string) => Promise<void>
  follow: () => () => void
  /** When the latest payment was first seen, as far as the stream has said. */
  seenAt: () => string | null
  /** Shows no address any more: the server was caught saying something wrong. */
  distrust: () => void
  sessionToken: () => string | null
}

export function openStore(api: Api, config: Config, id: string, changed: () => void): Store {
  const path = `/v1/checkout/invoices/${segment(id)}`
  let shown: Shown = { kind: 'loading' }
  let isStale = false
  let seenAt: string | null = null
  let asked = 0
  let answered = 0
  /** What the stream said since the last answer. */
  let told: string | null = null
  let isUnsure = false
  let doubting: ReturnType<typeof setTimeout> | undefined
  let live: Live | null = null

  const read = (value: unknown): Invoice => {
    const invoice = readInvoice(value)
    if (invoice.id !== id) throw new Unreadable('the invoice that was asked for')
    return invoice
  }
  const doubt = () => {
    isUnsure = told !== null && shown.kind === 'ready' && told !== shown.invoice.status
  }
  const settle = () => {
    clearTimeout(doubting)
    told = null
    isUnsure = isStale = false
  }
  /** Answers may overtake each other: an older one does not replace a newer. */
  const take = async (turn: number, invoice: Invoice) => {
    const next = await judge(invoice, config)
    if (turn < answered) return
    answered = turn
    setNow(invoice.as_of)
    settle()
    // One session for the whole visit: the first token is the one that a receipt's address is bound to.
    if (recall(`session.${id}`) === null) remember(`session.${id}`, invoice.session_token)
    // A page that was given a wrong address once is not to be trusted again.
    if (shown.kind !== 'untrusted') shown = next
    changed()
  }
  const fetched = async (): Promise<Missed> => {
    const turn = ++asked
    try {
      await take(turn, await get(api, path, read))
      return null
    } catch (error) {
      const why = error instanceof Refused ? error : null
      if (shown.kind === 'loading' || shown.kind === 'failed') shown = { kind: 'failed', why }
      // A link that leads nowhere is not asked for again and again.
      isStale = !isMissing(shown)
      doubt()
      changed()
      if (!isStale) return null
      const waitS = why?.retryAfterS ?? (why?.status === 429 ? WAIT_S : 0)
      return { afterMs: 1000 * waitS }
    }
  }
  const refresh = async () => {
    if (live) await live.refresh()
    else await fetched()
  }
  const everyMs = () => {
    if (shown.kind !== 'ready') return { alone: isMissing(shown) ? null : SOON_MS, beside: null }
    return often(shown.invoice, nowMs())
  }
  const query = api.key === null ? '' : `?key=${encodeURIComponent(api.key)}`
  const url = `${api.url.replace(/\/$/, '')}/v1/invoices/${segment(id)}/events${query}`
  return {
    current: () => shown,
    isStale: () => isStale,
    isUnsure: () => isUnsure,
    refresh,
    pick: async (asset) => {
      const picked = await post(api, `${path}/payment_option`, { asset }, read)
      // Newer than every answer so far. What was asked meanwhile may be newer still, and is asked again.
      await take(++asked, picked)
      void refresh()
    },
    follow: () => {
      live = follow({
        url,
        refresh: fetched,
        everyMs,
        lost: () => {
          isStale = true
          changed()
        },
        told: (status) => {
          told = status
          clearTimeout(doubting)
          doubting = setTimeout(() => {
            doubt()
            changed()
          }, UNSURE_MS)
        },
        seen: (at) => {
          seenAt = at
          changed()
        },
        shown: () => (shown.kind === 'ready' || shown.kind === 'untrusted' ? mark(shown.invoice) : ''),
      })
      return () => {
        clearTimeout(doubting)
        live?.stop()
        live = null
      }
    },
    seenAt: () => seenAt,
    distrust: () => {
      if (shown.kind === 'ready') shown = { kind: 'untrusted', invoice: shown.invoice, why: 'mismatch' }
      changed()
    },
    sessionToken: () => recall(`session.${id}`) ?? (shown.kind === 'ready' ? shown.invoice.session_token : null),
  }
}
