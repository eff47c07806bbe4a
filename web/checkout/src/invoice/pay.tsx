// The amount, the address and the ways to send.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Invoice } from '../api/shapes.ts'
import { familyOf, networkName, networks } from '#shared/chain/networks.ts'
import { shown } from '#shared/money.ts'
import { Address } from '#shared/parts/address.tsx'
import { AmountBlock } from '../parts/amount.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Icon } from '#shared/parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Qr } from '#shared/parts/qr.tsx'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'
import type { CheckedWay } from './store.ts'

const Exchange = lazy('help', async () => (await import('./exchange.tsx')).Exchange)
const Apps = lazy('help', async () => (await import('./more.tsx')).Apps)
const More = lazy('help', async () => (await import('./more.tsx')).More)
const Wallet = lazy('help', async () => (await import('./wallet.tsx')).Wallet)

const WAYS = { app: 'pay.way_app', exchange: 'pay.way_exchange', browser: 'pay.way_browser' } as const
type From = keyof typeof WAYS

interface Pay {
  invoice: Invoice
  way: CheckedWay
  shop: string
  /** What is still to be sent. */
  amount: string
  isRest: boolean
  /** Absent where there is no other way. */
  change?: (() => void) | undefined
  /** The payer came here by choosing: the amount takes the focus. */
  isFocused: boolean
  distrust: () => void
  head: ComponentChildren
}

export function Pay({ invoice, way, shop, amount, isRest, change, isFocused, distrust, head }: Pay) {
  const [from, setFrom] = useState<From>('app')
  const [bound, setBound] = useState<{ amount: string; suffix: number } | null>(null)
  const network = networkName(way.network, way.network_name)
  const family = familyOf(way.network)
  const ways: From[] = ['app']
  if (invoice.capabilities.exchanges) ways.push('exchange')
  const isWalletPossible = invoice.capabilities.wallet_payments && !isRest && (family === 'evm' || family === 'tron')
  if (isWalletPossible) ways.push('browser')
  const isBound = from === 'browser' && bound !== null
  const label = from === 'exchange' ? t('pay.receive') : t(isRest ? 'pay.send_rest' : 'pay.send')
  return (
    <div class="card">
      {head}
      <AmountBlock
        label={label}
        amount={isBound ? bound.amount : amount}
        symbol={way.symbol}
        suffix={isBound ? bound.suffix : 0}
        isFocused={isFocused}
      >
        <span class="dim">{t('pay.on')}</span>
        <span class="tag">
          <bdi>{network}</bdi>
        </span>
        {change && (
          <button type="button" class="link" onClick={change}>
            {t('pay.change')}
          </button>
        )}
      </AmountBlock>
      {ways.length > 1 && (
        <nav class="ways" aria-label={t('pay.ways')}>
          {ways.map((one) => (
            <button type="button" key={one} aria-current={one === from ? 'true' : undefined} onClick={() => setFrom(one)}>
              {t(WAYS[one])}
            </button>
          ))}
        </nav>
      )}
      {from === 'exchange' && <Exchange network={way.network} name={network} symbol={way.symbol} amount={amount} isRest={isRest} />}
      {from === 'browser' ? (
        <Wallet invoice={invoice} way={way} shop={shop} bound={setBound} distrust={distrust} leave={() => setFrom('app')} />
      ) : (
        <To way={way} network={network} shop={shop} amount={amount} />
      )}
    </div>
  )
}

/** BIP-321. */
export const bitcoinUri = (address: string, amount: string) => `bitcoin:${address}?amount=${amount}`
/** The same for a code: these addresses may be written in capitals, which codes hold more of. */
export const bitcoinCode = (address: string, amount: string) => bitcoinUri(address.toUpperCase(), amount)

/** Whoever touches the screen has the wallet on the same device. */
const isTouch = () => matchMedia('(pointer: coarse)').matches

function To({ way, network, shop, amount }: { way: CheckedWay; network: string; shop: string; amount: string }) {
  const [isOpen, setOpen] = useState(false)
  const [isWanted, setWanted] = useState(false)
  const family = familyOf(way.network)
  const isBitcoin = family === 'bitcoin'
  const code = isBitcoin ? bitcoinCode(way.address, amount) : way.address
  const holds = isBitcoin ? t('pay.qr_full') : <Text word="pay.qr_bare" amount={<bdi class="num ltr">{shown(amount)}</bdi>} />
  const hasTouch = isTouch()
  const opens = (
    <>
      <Icon name="out" />
      {t('pay.open')}
    </>
  )
  const wallet = isBitcoin ? (
    <a class={`btn wide across ${hasTouch ? 'primary' : ''}`} href={bitcoinUri(way.address, amount)}>
      {opens}
    </a>
  ) : (
    // Wallets have links of their own for real networks, and for test networks of one family.
    hasTouch &&
    (family === 'evm' || networks[way.network]?.live) && (
      <button type="button" class="btn wide across primary" aria-expanded={isWanted} onClick={() => setWanted(!isWanted)}>
        {opens}
      </button>
    )
  )
  return (
    <>
      {hasTouch && wallet && (
        <div class="stack">
          {wallet}
          {isWanted && <Apps way={way} amount={amount} />}
        </div>
      )}
      <div class="to">
        <Qr text={code} label={t('pay.qr')} class="broad" />
        <h2 class="small">
          <Text word="pay.to" network={network} />
        </h2>
        <Address address={way.address} />
        <p class="small dim broad">{holds}</p>
        <CopyButton value={way.address} label={t('pay.copy_address')} class={`wide across ${hasTouch && wallet ? '' : 'primary'}`} />
        {!hasTouch && wallet}
        <p class="checked across">
          <Icon name="shield" />
          <span>
            <Text word="pay.checked" shop={shop} />
          </span>
        </p>
      </div>
      <details class="narrow">
        <summary>
          <Icon name="qr" />
          {t('pay.scan')}
          <Icon name="chevron" class="chev" />
        </summary>
        <Qr text={code} label={t('pay.qr')} />
        <p class="small dim">{holds}</p>
      </details>
      {!isBitcoin && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>
            {t('pay.details')}
            <Icon name="chevron" class="chev" />
          </summary>
          {isOpen && <More way={way} amount={amount} isTouch={hasTouch} />}
        </details>
      )}
    </>
  )
}
