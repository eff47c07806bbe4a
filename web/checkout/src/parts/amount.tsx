// Amounts of tokens: Latin digits, from left to right, never rounded.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { withoutAddresses } from '#shared/api/free.ts'
import { shown } from '#shared/money.ts'
import { t } from '../words/words.ts'
import { CopyButton } from './copy.tsx'

/** From this length on the hero is set smaller, so that it stays in one line. */
const LONG = 6

export const tokens = (amount: string, symbol: string) => `${shown(amount)} ${symbol}`

/** The symbol of an asset code. */
export const symbolOf = (asset: string) => withoutAddresses(asset.split('@')[0] ?? asset)
export const networkOf = (asset: string) => asset.slice(asset.indexOf('@') + 1)

export function Tokens({ amount, symbol }: { amount: string; symbol: string }) {
  return <bdi class="num nowrap ltr">{tokens(amount, symbol)}</bdi>
}

interface Hero {
  amount: string
  symbol: string
  /** How many of the last digits only tell this payment from others. */
  suffix?: number
}

export function Hero({ amount, symbol, suffix = 0 }: Hero) {
  const digits = shown(amount)
  const plain = suffix > 0 ? digits.slice(0, -suffix) : digits
  return (
    <bdi class={`money num ltr ${digits.length > LONG ? 'long' : ''}`}>
      {plain}
      {suffix > 0 && <u>{digits.slice(-suffix)}</u>}
      <small> {symbol}</small>
    </bdi>
  )
}

interface Block extends Hero {
  label: string
  isFocused: boolean
  children: ComponentChildren
}

/** The amount to send, with its copy button, and the network under it. */
export function AmountBlock({ label, amount, symbol, suffix = 0, isFocused, children }: Block) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (isFocused) heading.current?.focus()
  }, [isFocused])
  return (
    <div>
      <div class="amount">
        <h1 ref={heading} tabIndex={-1}>
          <span class="says">{label}</span>
          <Hero amount={amount} symbol={symbol} suffix={suffix} />
        </h1>
        <CopyButton value={shown(amount)} name={t('pay.copy_amount')} />
      </div>
      <p class="net">{children}</p>
    </div>
  )
}
