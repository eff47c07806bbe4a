// Amounts, times and ids as they are written everywhere.

import { shown } from '#shared/money.ts'
import { clock, day, moment, shortMoment } from '#shared/time.ts'
import { useNow } from '../app/now.ts'

/** Thousands apart, every digit kept. */
export function grouped(amount: string): string {
  const [whole = '0', part = ''] = shown(amount).split('.')
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${part}`
}

export function Money({ amount, unit }: { amount: string; unit: string }) {
  return (
    <bdi class="num nowrap ltr">
      <b>{grouped(amount)}</b> <small class="dim">{unit}</small>
    </bdi>
  )
}

/** The hour, and the day too where the hour alone could be another one; UTC to the last digit on pointing at it. */
export function Time({ at }: { at: string }) {
  const now = useNow()
  return (
    <time dateTime={at} title={at}>
      {clock(at, now)}
    </time>
  )
}

export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {moment(at)}
    </time>
  )
}

/** The same in few words, for columns of facts. */
export function When({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {shortMoment(at)}
    </time>
  )
}

/** The symbol and the network of an asset code (`USDC@eip155:8453`). */
export const symbolOf = (asset: string) => asset.split('@')[0] ?? asset
export const networkOf = (asset: string) => asset.slice(asset.indexOf('@') + 1)

export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {day(at)}
    </time>
  )
}
