// Amounts are decimal texts. Where two must be added or compared they become whole numbers of the finer
// one's last digit; a floating-point number is never involved.

interface Scaled {
  units: bigint
  decimals: number
}

function scaled(text: string): Scaled {
  const [whole = '', part = ''] = text.split('.')
  return { units: BigInt(whole + part), decimals: part.length }
}

function alike(a: string, b: string): [bigint, bigint, number] {
  const [x, y] = [scaled(a), scaled(b)]
  const decimals = Math.max(x.decimals, y.decimals)
  const raise = (value: Scaled) => value.units * 10n ** BigInt(decimals - value.decimals)
  return [raise(x), raise(y), decimals]
}

function written(units: bigint, decimals: number): string {
  if (decimals === 0) return units.toString()
  const digits = units.toString().padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

export function add(a: string, b: string): string {
  const [x, y, decimals] = alike(a, b)
  return written(x + y, decimals)
}

/** Never below zero. */
export function subtract(a: string, b: string): string {
  const [x, y, decimals] = alike(a, b)
  return written(x > y ? x - y : 0n, decimals)
}

export function compare(a: string, b: string): -1 | 0 | 1 {
  const [x, y] = alike(a, b)
  return x < y ? -1 : x > y ? 1 : 0
}

export const isZero = (text: string) => scaled(text).units === 0n

/** Whether parts of different wholes make at least one whole together: 24 of 48 and 0.1 of 0.2 do. Exact. */
export function isWhole(shares: (readonly [part: string, whole: string])[]): boolean {
  let [sum, of] = [0n, 1n]
  for (const [part, whole] of shares) {
    const [x, y] = alike(part, whole)
    if (y === 0n) return true
    sum = sum * y + x * of
    of *= y
  }
  return sum >= of
}

/** How much of `whole` the part is, in thousandths, for drawing a bar. */
export function thousandths(part: string, whole: string): bigint {
  const [x, y] = alike(part, whole)
  if (y === 0n) return 0n
  const share = (x * 1000n) / y
  return share > 1000n ? 1000n : share
}

/** Zeros that say nothing are left out, but cents stay: 48.000000 is 48.00, 0.00046150 is 0.0004615. */
export function shown(text: string): string {
  const [whole = '', part = ''] = text.split('.')
  return `${whole}.${part.replace(/0+$/, '').padEnd(2, '0')}`
}

/** The whole units of a token's smallest part, or null when the amount is finer than that. */
export function baseUnits(text: string, decimals: number): string | null {
  const value = scaled(text)
  if (value.decimals > decimals && !isZero(`0.${text.split('.')[1]?.slice(decimals) ?? ''}`)) return null
  const [whole = '', part = ''] = text.split('.')
  return BigInt(whole + part.slice(0, decimals).padEnd(decimals, '0')).toString()
}

/** The first of the digits that Arabic and Persian keyboards have. */
const ZEROS = [0x660, 0x6f0]
const latin = (digit: string) => {
  const code = digit.charCodeAt(0)
  return String(code - (ZEROS.find((zero) => code >= zero && code <= zero + 9) ?? code))
}

/**
 * What a payer typed, as the API takes it, or null. A comma is what many keyboards offer; whatever separates thousands
 * is refused rather than guessed at, and so are three digits after a mark that could be one.
 */
export function typed(text: string, decimalsMax: number, point = '.'): string | null {
  const plain = text.trim().replace(/[٠-٩۰-۹]/g, latin)
  const match = /^([0-9]{1,12})(?:([.,٫])([0-9]*))?$/.exec(plain)
  if (!match?.[1]) return null
  const [, , mark = point, part = ''] = match
  if (part.length > decimalsMax || (part.length === 3 && mark !== point && mark !== '٫')) return null
  const whole = match[1].replace(/^0+(?=.)/, '')
  return part ? `${whole}.${part}` : whole
}

/** What stands before the decimals in a language, beside Latin digits. */
export function decimalPoint(locale: string): string {
  const parts = new Intl.NumberFormat(locale, { numberingSystem: 'latn' }).formatToParts(0.5)
  return parts.find((one) => one.type === 'decimal')?.value ?? '.'
}

/** A price in its currency, written as the language does, with Latin digits. */
export function price(amount: string, currency: string, locale: string): string {
  const [whole = '0', part = ''] = amount.split('.')
  const form = (style: Intl.NumberFormatOptions) => {
    try {
      return new Intl.NumberFormat(locale, { ...style, numberingSystem: 'latn' })
    } catch {
      return null
    }
  }
  const parts = form({ style: 'currency', currency, maximumFractionDigits: 0 })?.formatToParts(BigInt(whole))
  if (!parts) return `${amount} ${currency}`
  const point = decimalPoint(locale)
  const last = parts.findLastIndex((one) => one.type === 'integer')
  return parts.map((one, at) => (at === last && part ? one.value + point + part : one.value)).join('')
}
