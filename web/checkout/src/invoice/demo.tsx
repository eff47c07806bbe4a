// The demonstration server's own panel: whoever looks at the page may pay with test money. No other server
// has what this calls, and no other configuration shows it.

import { useState } from 'preact/hooks'
import { post, segment } from '../api/client.ts'
import { type Invoice, invoice as readInvoice } from '../api/shapes.ts'
import { networkName } from '#shared/chain/networks.ts'
import { usePage } from '../page.tsx'
import { Tokens } from '../parts/amount.tsx'
import { add } from '#shared/money.ts'
import { recall } from '#shared/keep.ts'
import { t } from '../words/words.ts'
import type { Store } from './store.ts'

const LEVELS = ['pending', 'included', 'safe', 'final'] as const
type Level = (typeof LEVELS)[number]
const NAMES = { pending: 'demo.level_pending', included: 'demo.level_included', safe: 'demo.level_safe', final: 'demo.level_final' } as const

export function Demo({ invoice, store }: { invoice: Invoice; store: Store }) {
  const { api } = usePage()
  const [isFailed, setFailed] = useState(false)
  const coming = invoice.payments.find((one) => one.status === 'pending' || one.status === 'confirming')
  const rest = invoice.amount_remaining
  const asset = coming?.asset ?? rest?.asset ?? recall(`way.${invoice.id}`)
  const option = invoice.payment_options.find((one) => one.asset === asset) ?? invoice.payment_options[0]
  if (!option) return null
  const due = rest?.amount ?? option.amount_due
  const next = coming && LEVELS[LEVELS.indexOf(coming.finality as Level) + 1]

  const pay = async (amount: string, finality: Level, tx_hash: string | null) => {
    setFailed(false)
    try {
      const path = `/checkout/demo/invoices/${segment(invoice.id)}/payments`
      await post(api, path, { asset: option.asset, amount, finality, tx_hash }, readInvoice)
      await store.refresh()
    } catch {
      setFailed(true)
    }
  }
  const choice = (word: 'demo.exact' | 'demo.less' | 'demo.more', amount: string) => (
    <button type="button" class="btn wide" onClick={() => pay(amount, 'final', null)}>
      <span>
        {t(word)}: <Tokens amount={amount} symbol={option.symbol} />
      </span>
    </button>
  )
  return (
    <section class="demo stack" aria-labelledby="demo">
      <h2 id="demo">{t('demo.title')}</h2>
      <p class="small">{t('demo.text')}</p>
      <p class="small">
        {option.symbol} {t('pay.on')} <bdi>{networkName(option.network, option.network_name)}</bdi>
      </p>
      {isFailed && <p role="alert">{t('demo.failed')}</p>}
      {coming && next ? (
        <button type="button" class="btn wide" onClick={() => pay(coming.amount, next, coming.tx_hash)}>
          {t('demo.next')}: {t(NAMES[next])}
        </button>
      ) : (
        <>
          {choice('demo.exact', due)}
          {choice('demo.less', half(due))}
          {choice('demo.more', add(due, half(due)))}
          <button type="button" class="btn wide" onClick={() => pay(due, 'pending', null)}>
            {t('demo.steps')}
          </button>
        </>
      )}
    </section>
  )
}

/** Half of it, rounded down to its own last digit. */
function half(amount: string): string {
  const [whole = '0', part = ''] = amount.split('.')
  const digits = (BigInt(whole + part) / 2n).toString().padStart(part.length + 1, '0')
  return part ? `${digits.slice(0, -part.length)}.${digits.slice(-part.length)}` : digits
}
