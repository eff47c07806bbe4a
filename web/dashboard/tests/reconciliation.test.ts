import { expect, test } from 'vitest'
import { outcomes, SPANS_S, spread, waits } from '../src/screens/reconciliation/course.tsx'
import { asked, PRESETS, periodOf } from '../src/screens/reconciliation/period.tsx'

const period = (text: string) => periodOf(new URLSearchParams(text))

test('the last day is within the period: the API is asked up to the moment after it', () => {
  expect(asked(period('from=2026-11-01&to=2026-11-30'))).toEqual({ from: '2026-11-01', to: '2026-12-01' })
  expect(asked(period(''))).toEqual({ from: null, to: null })
  expect(asked(period('from=2026-02-28&to=2026-02-28'))).toEqual({ from: '2026-02-28', to: '2026-03-01' })
})

test('what is no day is not passed on', () => {
  expect(period('from=yesterday&to=2026-13-45')).toEqual({ first: null, last: null })
})

test('months are those of UTC, from their first day to their last', () => {
  const now = new Date('2027-01-31T23:30:00Z')
  const of = Object.fromEntries(PRESETS.map(([name, make]) => [name, make(now)]))
  expect(of.lastMonth).toEqual({ first: '2026-12-01', last: '2026-12-31' })
  expect(of.thisMonth).toEqual({ first: '2027-01-01', last: '2027-01-31' })
  expect(of.week).toEqual({ first: '2027-01-25', last: '2027-01-31' })
  expect(of.month).toEqual({ first: null, last: null })
})

test('outcomes count each invoice once and leave out what did not happen', () => {
  const found = outcomes([{ status: 'paid' }, { status: 'expired' }, { status: 'paid' }])
  expect(found.map(({ label, text }) => [label, text])).toEqual([
    ['Paid', '2'],
    ['Expired', '1'],
  ])
})

test('every payment that counted is in exactly one span of time', () => {
  const at = (seconds: number) => ({ first_seen_at: '2026-11-17T12:00:00Z', credited_at: new Date(Date.parse('2026-11-17T12:00:00Z') + seconds * 1000).toISOString() })
  const seconds = waits([at(0), at(10), at(11), at(3600), at(9999), { first_seen_at: '2026-11-17T12:00:00Z', credited_at: null }])
  expect(seconds).toEqual([0, 10, 11, 3600, 9999])
  const bars = spread(seconds)
  expect(bars).toHaveLength(SPANS_S.length + 1)
  expect(bars.map((bar) => bar.size)).toEqual([2, 1, 0, 0, 0, 1, 1])
})
