import { expect, test } from 'vitest'
import type { Invoice, Refund } from '#shared/api/types.ts'
import { choicesOf, refundable } from '../src/screens/refunds/new.tsx'
import { STATUSES, toldStatus } from '../src/screens/refunds/status.tsx'
import { en } from '../src/texts/en.ts'

const BASE = 'USDC@eip155:84532'
const TRON = 'USDT@tron:3448148188'

const invoice = (over: string | null) =>
  ({
    amounts_received: [
      { asset: BASE, amount: '51.000000' },
      { asset: TRON, amount: '2' },
    ],
    amount_overpaid: over === null ? null : { asset: BASE, amount: over },
  }) as unknown as Invoice
const NOW = Date.parse('2026-11-17T12:00:00Z')
const refund = (asset: string, amount: string, status: string, expires_at = '2026-12-17T12:00:00Z') => ({ asset, amount, status, expires_at }) as Refund

test('what other refunds hold or have sent is not offered again, what was cancelled is', () => {
  const [base, tron] = refundable(invoice(null), [refund(BASE, '3.00', 'unclaimed'), refund(BASE, '0.000001', 'sent'), refund(BASE, '40', 'cancelled'), refund(TRON, '2.00', 'in_review', '2026-11-01T00:00:00Z')], NOW)
  expect(base).toEqual({ asset: BASE, received: '51.000000', taken: '3.000001', left: '47.999999', excess: null })
  expect(tron?.left).toBe('0.00')
})

test('a link that ended unused frees what it held, and says so', () => {
  const over = refund(BASE, '3.00', 'unclaimed', '2026-11-17T12:00:00Z')
  expect(refundable(invoice(null), [over], NOW)[0]?.left).toBe('51.000000')
  expect(toldStatus(over, NOW)).toBe('ended')
  expect(toldStatus(over, NOW - 1)).toBe('unclaimed')
  expect(toldStatus({ ...over, status: 'sent' }, NOW)).toBe('sent')
})

test('the excess is offered by itself while it is there', () => {
  expect(refundable(invoice('3.00'), [], NOW)[0]?.excess).toBe('3.00')
  expect(refundable(invoice('3.00'), [refund(BASE, '49.00', 'sent')], NOW)[0]?.excess).toBeNull()
  expect(refundable(invoice('3.00'), [], NOW)[1]?.excess).toBeNull()
  expect(refundable(invoice('0.00'), [], NOW)[0]?.excess).toBeNull()
})

test('the excess, the price or all of it can be chosen, each once', () => {
  const part = { asset: BASE, received: '51.00', taken: '0', left: '51.00', excess: '3.00' }
  expect(choicesOf(part)).toEqual([
    ['Paid too much', '3.00'],
    ['The price', '48.00'],
    ['Everything', '51.00'],
  ])
  expect(choicesOf({ ...part, left: '3.00' }).map(([, amount]) => amount)).toEqual(['3.00', '3.00'])
  expect(choicesOf({ ...part, excess: null })).toEqual([['All that arrived', '51.00']])
})

test('what must not be paid comes first, and every status and reason has its words', () => {
  expect(STATUSES[0]).toBe('in_review')
  for (const status of STATUSES) expect(en.refunds.statuses[status] && en.refunds.means[status], status).toBeTruthy()
  for (const reason of ['sanctions', 'blacklist', 'screening_unavailable', 'payment_reversed', 'price_uncovered', 'finality_violation']) expect(en.refunds.held[reason]).toHaveLength(2)
})
