// A payment was seen and is on its way to final.

import { nowMs } from '../api/client.ts'
import type { Invoice, Payment } from '../api/shapes.ts'
import { explorerLink, networkName, networks } from '../chain/networks.ts'
import { networkOf, symbolOf, Tokens, tokens } from '../parts/amount.tsx'
import { lazy } from '../parts/lazy.tsx'
import { State } from '../parts/state.tsx'
import { type Step, Track } from '../parts/track.tsx'
import { clock } from '../time.ts'
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
  const where = level < 1 ? t('pay.step_waiting') : t('pay.step_in_block', { network: networkName(network, network) })
  const seen = seenAt === null ? where : `${where} · ${clock(seenAt, nowMs())}`
  const all = [
    { name: t('pay.step_seen'), text: seen },
    { name: t('pay.step_settling'), text: t('pay.step_building') },
    { name: t('pay.step_final'), text: t('pay.step_for_good') },
  ]
  // A network without a level in between goes from its block straight to final.
  if (networks[network]?.safe === false) all.splice(1, 1)
  const now = status === 'confirming' || level >= 2 ? 1 : 0
  return all.map((step, at) => ({ ...step, state: at < now ? 'past' : at === now ? 'now' : 'next' }))
}

export function Confirming({ invoice, store }: { invoice: Invoice; store: Store }) {
  const payment = slowest(invoice)
  if (!payment) return null
  const network = networkOf(payment.asset)
  const amount = <Tokens amount={payment.amount} symbol={symbolOf(payment.asset)} />
  const isSeen = invoice.status === 'detected'
  const link = explorerLink(network, payment.tx_hash)
  return (
    <>
      <div class="card">
        <State tone="info" glyph={isSeen ? 'seen' : 'half'} title={t(isSeen ? 'pay.seen' : 'pay.confirming')}>
          <p class="dim">
            {isSeen ? (
              <Text word="pay.seen_text" amount={amount} network={networkName(network, network)} />
            ) : (
              <Text word="pay.confirming_text" amount={amount} />
            )}
          </p>
        </State>
        <Track steps={steps(payment, invoice.status, store.seenAt())} />
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
  const payment = slowest(invoice)
  if (!payment) return ''
  const amount = tokens(payment.amount, symbolOf(payment.asset))
  const network = networkOf(payment.asset)
  return invoice.status === 'detected'
    ? `${t('pay.seen')}. ${t('pay.seen_text', { amount, network: networkName(network, network) })}`
    : `${t('pay.confirming')}. ${t('pay.confirming_text', { amount })}`
}
