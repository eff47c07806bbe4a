// Hundredths of a percent, as the API counts them, and percent, as people do. Text all the way: nothing is rounded.

import { Refused } from '#shared/api/ask.ts'
import { setup } from '../../texts/setup.ts'

/** 50 becomes `0.5`. */
export function percent(hundredths: number): string {
  const digits = String(hundredths).padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`.replace(/\.?0+$/, '') || '0'
}

/** `0.5` becomes 50, nothing becomes null. What is no percentage is refused at its field, as the API would. */
export function readPercent(text: string): number | null {
  const given = text.trim().replace(',', '.')
  if (given === '') return null
  const read = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(given)
  const hundredths = read ? Number(`${read[1]}${(read[2] ?? '').padEnd(2, '0')}`) : Number.NaN
  if (!(hundredths <= 10_000)) throw new Refused(400, 'parameter_invalid', null, { message: setup.settings.notPercent, param: 'underpay_tolerance_bps', requestId: null })
  return hundredths
}

/** The fields that differ from what is there. */
export function changed<T extends object>(now: T, wanted: Partial<T>): Partial<T> {
  return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(now[name as keyof T] ?? null))) as Partial<T>
}
