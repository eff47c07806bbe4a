import { expect, test } from 'vitest'
import type { Plan } from '#shared/api/types.ts'
import { requestOf, whole } from '../src/screens/plans/new.tsx'
import { priceOf } from '../src/screens/plans/words.ts'
import { periodsOf, type Renewal } from '../src/screens/subscriptions/periods.ts'
import { STATUSES } from '../src/screens/subscriptions/status.tsx'
import { dayInZone, inZone } from '../src/screens/subscriptions/zone.ts'
import { en } from '../src/texts/en.ts'

test('a renewal is told by the clock of the plan, whatever the reader’s is', () => {
  expect(inZone('2026-11-30T23:00:00Z', 'Europe/Berlin')).toBe('1 December 2026 at 00:00 (Europe/Berlin)')
  expect(inZone('2026-12-01T05:00:00Z', 'America/New_York')).toBe('1 December 2026 at 00:00 (America/New_York)')
  expect(inZone('2026-12-01T05:00:00Z', 'Nowhere/Atall')).toBe('1 December 2026 at 05:00 (UTC)')
  expect(dayInZone('2026-11-30T23:00:00Z', 'Europe/Berlin')).toBe('1 Dec 2026')
})

test('paid periods: each once and newest first, of this subscription alone, with all that paid them', () => {
  const renewal = (id: string, month: number, invoice?: string): Renewal => ({
    created_at: `2026-0${month}-01T12:00:00Z`,
    data: { object: { id, current_period_start: `2026-0${month}-01T00:00:00Z`, current_period_end: `2026-0${month + 1}-01T00:00:00Z` }, ...(invoice ? { invoice: { id: invoice } } : {}) },
  })
  const all = [renewal('sub_a', 3), renewal('sub_b', 3, 'inv_9'), renewal('sub_a', 2, 'inv_3'), renewal('sub_a', 2, 'inv_2'), renewal('sub_a', 1, 'inv_1')]
  expect(periodsOf('sub_a', all)).toEqual([
    { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z', by: [null] },
    { from: '2026-02-01T00:00:00Z', to: '2026-03-01T00:00:00Z', by: ['inv_3', 'inv_2'] },
    { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z', by: ['inv_1'] },
  ])
})

test('numbers of a plan are numbers, and what is none is refused at its field', () => {
  expect([whole('3'), whole(' 0 '), whole('')]).toEqual([3, 0, null])
  expect([whole('three'), whole('-1'), whole('1.5')]).toEqual(['three', '-1', '1.5'])
  const values = { name: ' Club ', amount: '9', currency: 'usd', interval_count: '1', interval: 'month', trial_days: '', grace_days: '3', max_attempts: '4', billing_timezone: 'UTC', assets: '' }
  expect(requestOf(values)).toMatchObject({ name: 'Club', amount: '9', currency: 'USD', interval_count: 1, trial_days: null, assets: null })
})

test('a price says how often', () => {
  const plan = { amount: '1209.00', currency: 'USD', interval: 'month', interval_count: 1 } as Plan
  expect(priceOf(plan)).toBe('1,209.00 USD every month')
  expect(priceOf({ ...plan, interval: 'week', interval_count: 2 })).toBe('1,209.00 USD every 2 weeks')
})

test('every status has its word', () => {
  for (const status of STATUSES) expect(en.subscriptions.statuses[status], status).toBeTruthy()
})
