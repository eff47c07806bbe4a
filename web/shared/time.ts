// Times as the page's language writes them, with Latin digits.

import { locale } from './locale.ts'

/** As the reader writes times, where that is the page's language: Britain and Canada do not agree on them. */
const region = () => globalThis.navigator?.languages?.find((code) => code.startsWith(`${locale()}-`)) ?? locale()

const latin = { numberingSystem: 'latn', calendar: 'gregory' } as const

/** Within this of now an hour can be meant in one way only, also past midnight. */
const NEAR_MS = 12 * 3_600_000

/** The hour, and the day too where the hour alone could be another one. */
export function clock(at: string, nowMs: number): string {
  const time = new Date(at)
  const isNear = Math.abs(time.getTime() - nowMs) < NEAR_MS
  const day = isNear ? {} : ({ day: 'numeric', month: 'short' } as const)
  const { hourCycle } = new Intl.DateTimeFormat(region(), { hour: 'numeric' }).resolvedOptions()
  // Of 24 hours each is written with two digits, as timetables do: 00:46, not 0:46.
  const hour = hourCycle === 'h23' ? '2-digit' : 'numeric'
  return new Intl.DateTimeFormat(region(), { ...latin, ...day, hour, minute: '2-digit' }).format(time)
}

export function day(at: string): string {
  const form = { ...latin, day: 'numeric', month: 'long', year: 'numeric' } as const
  return new Intl.DateTimeFormat(region(), form).format(new Date(at))
}

export function shortDay(at: string): string {
  return new Intl.DateTimeFormat(region(), { ...latin, dateStyle: 'medium' }).format(new Date(at))
}

/** A day of a series that is counted by UTC days, without its year. */
export function utcDay(date: Date): string {
  return new Intl.DateTimeFormat(region(), { ...latin, day: 'numeric', month: 'short', timeZone: 'UTC' }).format(date)
}

export function moment(at: string): string {
  const form = { ...latin, dateStyle: 'long', timeStyle: 'short' } as const
  return new Intl.DateTimeFormat(region(), form).format(new Date(at))
}

export function shortMoment(at: string): string {
  const form = { ...latin, dateStyle: 'medium', timeStyle: 'short' } as const
  return new Intl.DateTimeFormat(region(), form).format(new Date(at))
}

function amount(count: number, unit: 'second' | 'minute' | 'hour' | 'day'): string {
  const form = { style: 'unit', unit, unitDisplay: 'long', numberingSystem: 'latn' } as const
  return new Intl.NumberFormat(locale(), form).format(count)
}

export const seconds = (count: number) => amount(count, 'second')

/** A span in whole minutes, longer ones in hours and days, always rounded down; under a minute in seconds. */
export function span(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return amount(Math.max(1, Math.floor(ms / 1000)), 'second')
  if (minutes < 120) return amount(minutes, 'minute')
  return minutes < 2880 ? amount(Math.floor(minutes / 60), 'hour') : amount(Math.floor(minutes / 1440), 'day')
}
