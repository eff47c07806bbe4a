import { expect, test } from 'vitest'
import type { Plan } from '#shared/api/types.ts'
import { requestOf, whole } from '../src/screens/plans/new.tsx'
import { priceOf } from '../src/screens/plans/words.ts'
import { STATUSES } from '../src/screens/subscriptions/status.tsx'
import { inZone } from '../src/screens/subscriptions/zone.ts'
import { en } from '../src/texts/en.ts'

test('a renewal is told by the clock of the plan, whatever the reader’s is', () => {
  expect(inZone('2026-11-30T23:00:00Z', 'Europe/Berlin')).toBe('1 December 2026 at 00:00 (Europe/Berlin)')
  expect(inZone('2026-12-01T05:00:00Z', 'America/New_York')).toBe('1 December 2026 at 00:00 (America/New_York)')
  expect(inZone('2026-12-01T05:00:00Z', 'Nowhere/Atall')).toBe('1 December 2026 at 05:00 (UTC)')
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
