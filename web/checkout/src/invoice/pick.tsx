// Choosing a currency and a network.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { familyOf, networkName } from '#shared/chain/networks.ts'
import { shown } from '#shared/money.ts'
import { Tokens, tokens } from '../parts/amount.tsx'
import { Note, State } from '#shared/parts/state.tsx'
import { trouble } from '../trouble.ts'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'
import type { Way } from './store.ts'

interface Pick {
  ways: Way[]
  hidden: number
  /** What was chosen before, when the payer came back to change it. */
  before: string | null
  choose: (way: Way) => Promise<void>
  head: ComponentChildren
}

export function Pick({ ways, hidden, before, choose, head }: Pick) {
  const [asset, setAsset] = useState(before)
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const chosen = ways.find((way) => way.asset === asset) ?? (ways[0] as Way)
  const coins = ways.filter((way, at) => ways.findIndex((other) => other.symbol === way.symbol) === at)
  const networks = ways.filter((way) => way.symbol === chosen.symbol)
  // Networks of the EVM family have one address in common and stand on one rule.
  const together = networks.filter((way) => familyOf(way.network) === 'evm')
  const apart = networks.filter((way) => familyOf(way.network) !== 'evm')

  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setProblem(null)
    try {
      await choose(chosen)
    } catch (error) {
      setProblem(trouble(error))
    }
    setBusy(false)
  }
  const row = (way: Way) => (
    <label class="opt" key={way.asset}>
      <input type="radio" name="network" checked={way === chosen} onChange={() => setAsset(way.asset)} />
      <span>
        <bdi>{networkName(way.network, way.network_name)}</bdi>
      </span>
    </label>
  )
  return (
    <form class="card" onSubmit={submit}>
      {head}
      <div class="stack">
        <State title={t('pay.choose')} isFocused={before !== null} />
        <fieldset>
          <legend class="legend">{t('pay.currency')}</legend>
          <div class="pick coins">
            {coins.map((way) => (
              <label class="opt" key={way.symbol}>
                <input
                  type="radio"
                  name="currency"
                  checked={way.symbol === chosen.symbol}
                  onChange={() => setAsset(way.asset)}
                />
                <b>{way.symbol}</b>
                <span class="small dim num">
                  <bdi class="ltr">{shown(way.amount_due)}</bdi>
                </span>
              </label>
            ))}
          </div>
        </fieldset>
      </div>
      <div class="stack">
        <fieldset>
          <legend class="legend">{t('pay.network')}</legend>
          <div class="pick">
            {together.length > 1 ? (
              <div class="share">
                {together.map(row)}
                <p class="small dim">{t('pay.same_address')}</p>
              </div>
            ) : (
              together.map(row)
            )}
            {apart.map(row)}
          </div>
        </fieldset>
        {problem ? (
          <div role="alert">
            <Note tone="warn">{problem}</Note>
          </div>
        ) : (
          <Note tone="plain">{hidden > 0 ? t('pay.hidden') : t('pay.pick_note')}</Note>
        )}
        <button type="submit" class="btn wide primary" aria-disabled={isBusy}>
          <span>
            <Text
              word="pay.pay"
              amount={<Tokens amount={chosen.amount_due} symbol={chosen.symbol} />}
              network={networkName(chosen.network, chosen.network_name)}
            />
          </span>
        </button>
      </div>
    </form>
  )
}

/** What the browser's tab says while paying this way. */
export const title = (way: Way) =>
  t('pay.pay', { amount: tokens(way.amount_due, way.symbol), network: networkName(way.network, way.network_name) })
