// A payment was seen and is on its way to final.

import type { ComponentChildren } from 'preact'
import { nowMs } from '../api/client.ts'
import type { Invoice, Payment } from '../api/shapes.ts'
import { explorerLink, networkName, networks } from '#shared/chain/networks.ts'
import { add, isWhole, shown } from '#shared/money.ts'
import { networkOf, symbolOf, Tokens, tokens } from '../parts/amount.tsx'
import { lazy } from '../parts/lazy.tsx'
import { State } from '#shared/parts/state.tsx'
import { type Step, Track } from '../parts/track.tsx'
import { clock } from '#shared/time.ts'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'
import type { Store } from './store.ts'

const Email = lazy('help', async () => (await import('./email.tsx')).Email)

const LEVELS = ['pending', 'included', 'safe', 'final']

/** The payment that has the longest way to go: it decides what the page shows. */
export function slowest(invoice: Invoice): Payment | null {
  const coming = invoice.payments.filter((payment) => payment.status === 'pending' || payment.status === 'confirming')
  const among = coming.length > 0 ? coming : invoice.payments.filter((payment) => payment.status !== 'reversed')
  return among.toSorted((a, b) => LEVELS.indexOf(a.finality) - LEVELS.indexOf(b.finality))[0] ?? null
}

export function steps(payment: Payment, status: Invoice['status'], seenAt: string | null = null): Step[] {
  const network = networkOf(payment.asset)
  const level = LEVELS.indexOf(payment.finality)
  const where = level < 1 ? t('later.step_waiting') : t('later.step_in_block', { network: networkName(network, network) })
  const seen = seenAt === null ? where : `${where} · ${clock(seenAt, nowMs())}`
  const all = [
    { name: t('later.step_seen'), text: seen },
    { name: t('later.step_settling'), text: t('later.step_building') },
    { name: t('later.step_final'), text: t('later.step_for_good') },
  ]
  // A network without a level in between goes from its block straight to final.
  if (networks[network]?.safe === false) all.splice(1, 1)
  const now = status === 'confirming' || level >= 2 ? 1 : 0
  return all.map((step, at) => ({ ...step, state: at < now ? 'past' : at === now ? 'now' : 'next' }))
}

const isComing = (payment: Payment) => payment.status === 'pending' || payment.status === 'confirming'

/**
 * What was seen in the payment's asset and what was asked for in it, where all that was seen is too little: each
 * payment counts as its share of what its own asset asks for. Null when it is enough, or cannot be known.
 */
export function shortfall(invoice: Invoice, payment: Payment): { received: string; asked: string } | null {
  const due = (asset: string) => invoice.payment_options.find((option) => option.asset === asset)?.amount_due
  const asked = due(payment.asset)
  const counted = invoice.payments.filter((one) => isComing(one) || one.status === 'credited')
  if (asked === undefined || counted.some((one) => due(one.asset) === undefined)) return null
  const shares = counted.map((one) => [one.amount, due(one.asset) ?? '1'] as const)
  if (isWhole(shares)) return null
  const same = counted.filter((one) => one.asset === payment.asset)
  return { received: same.reduce((sum, one) => add(sum, one.amount), '0'), asked }
}

/** What is said of a payment on its way, sentence by sentence. */
function sentences(invoice: Invoice, payment: Payment, seenAt: string | null): ComponentChildren[] {
  const network = networkOf(payment.asset)
  const symbol = symbolOf(payment.asset)
  const amount = <Tokens amount={payment.amount} symbol={symbol} />
  const said: ComponentChildren[] = []
  if (invoice.status === 'detected') {
    const word = payment.finality === 'pending' ? 'later.seen_waiting' : 'later.seen_text'
    said.push(<Text word={word} amount={amount} network={networkName(network, network)} />)
    if (seenAt !== null) said.push(t('later.seen_at', { time: clock(seenAt, nowMs()) }))
  } else {
    said.push(<Text word="later.confirming_text" amount={amount} />)
  }
  const short = shortfall(invoice, payment)
  if (!short) return [...said, t('later.nothing_to_do')]
  const received = <bdi class="num ltr">{shown(short.received)}</bdi>
  return [...said, <Text word="later.short" received={received} asked={<Tokens amount={short.asked} symbol={symbol} />} />]
}

export function Confirming({ invoice, store }: { invoice: Invoice; store: Store }) {
  const payment = slowest(invoice)
  const isSeen = invoice.status === 'detected'
  const link = payment && explorerLink(networkOf(payment.asset), payment.tx_hash)
  const seenAt = store.seenAt()
  return (
    <>
      <div class="card">
        <State tone="info" glyph={isSeen ? 'seen' : 'half'} title={t(isSeen ? 'later.seen' : 'later.confirming')}>
          <p class="dim">
            {payment ? sentences(invoice, payment, seenAt).map((one) => <>{one} </>) : t('later.settling_text')}
          </p>
        </State>
        {payment && <Track steps={steps(payment, invoice.status, seenAt)} />}
        {invoice.capabilities.notify && <Email invoice={invoice} store={store} />}
      </div>
      {link && (
        <div class="after">
          <p class="small">
            <a href={link} rel="noopener noreferrer" target="_blank">
              {t('pay.view')}
            </a>
          </p>
        </div>
      )}
    </>
  )
}

/** What is said aloud when a payment is seen or settles. */
export function said(invoice: Invoice): string {
  const isSeen = invoice.status === 'detected'
  const title = t(isSeen ? 'later.seen' : 'later.confirming')
  const payment = slowest(invoice)
  if (!payment) return `${title}. ${t('later.settling_text')}`
  const symbol = symbolOf(payment.asset)
  const amount = tokens(payment.amount, symbol)
  const network = networkName(networkOf(payment.asset), networkOf(payment.asset))
  const short = shortfall(invoice, payment)
  const first = isSeen
    ? t(payment.finality === 'pending' ? 'later.seen_waiting' : 'later.seen_text', { amount, network })
    : t('later.confirming_text', { amount })
  const last = short ? t('later.short', { received: shown(short.received), asked: tokens(short.asked, symbol) }) : t('later.nothing_to_do')
  return `${title}. ${first} ${last}`
}
