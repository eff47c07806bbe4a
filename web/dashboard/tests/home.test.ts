import { expect, test } from 'vitest'
import type { HomeNeed } from '#shared/api/types.ts'
import { countAt } from '../src/api/needs.ts'
import { whereTo } from '../src/screens/home/finder.tsx'

const need = (kind: HomeNeed['kind'], count: number) => ({ kind, count, oldest_at: '2026-11-17T12:00:00.000Z' })

test('what is typed leads to an object, a payment or a customer’s invoices', () => {
  expect(whereTo('  inv_01 ')).toBe('/invoices/inv_01')
  expect(whereTo(`0x${'ab'.repeat(32)}`)).toBe(`/payments?tx_hash=0x${'ab'.repeat(32)}`)
  expect(whereTo('ab'.repeat(32))).toBe(`/payments?tx_hash=${'ab'.repeat(32)}`)
  expect(whereTo('reader 2041&status=x')).toBe('/invoices?customer_ref=reader+2041%26status%3Dx')
  expect(whereTo('  ')).toBeNull()
})

test('the menu counts what waits at each screen, and Home the kinds of it', () => {
  const all = [need('review_open', 2), need('refund_ready_to_send', 1), need('refund_in_review', 1), need('network_degraded', 1)]
  expect(countAt('/', all)).toBe(4)
  expect(countAt('/reviews', all)).toBe(2)
  expect(countAt('/refunds', all)).toBe(2)
  expect(countAt('/payments', all)).toBe(0)
})
