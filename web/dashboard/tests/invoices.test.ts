import { expect, test } from 'vitest'
import type { Change, InvoiceEvent, Payment, Refund, WebhookDelivery } from '#shared/api/types.ts'
import { pinned } from '../src/screens/invoices/addresses.ts'
import { isWeb } from '../src/screens/invoices/invoice.tsx'
import { readPairs } from '../src/screens/invoices/pairs.ts'
import { timeline } from '../src/screens/invoices/timeline.ts'

const ASSET = 'USDC@eip155:84532'
const at = (second: number) => `2026-11-17T12:00:${String(second).padStart(2, '0')}.000Z`
const invoice = (more: object = {}) => ({ payments: [], amounts_received: [], payment_options: [], ...more })
const event = (id: number, type: string, second: number, more: object = {}) => ({ id, type, created_at: at(second), invoice: invoice(more) }) as unknown as InvoiceEvent
const payment = (more: object) => ({ id: 'pay_1', asset: ASSET, symbol: 'USDC', network: 'eip155:84532', amount: '51.00', tx_hash: '0xaa', from: '0x1', status: 'credited', first_seen_at: at(2), ...more }) as unknown as Payment

test('the timeline: newest first, and what was told later stands higher within one moment', () => {
  const events = [
    event(1, 'invoice.created', 1),
    event(2, 'invoice.detected', 2, { payments: [{ asset: ASSET, amount: '51.00', tx_hash: '0xaa' }] }),
    event(3, 'invoice.overpaid', 2, { amounts_received: [{ amount: '51.00', asset: ASSET }], amount_overpaid: { amount: '3.00', asset: ASSET } }),
  ]
  const deliveries = [{ id: 'd', event_type: 'invoice.overpaid', status: 'succeeded', attempted_at: at(3), status_code: 200, latency_ms: 184 } as unknown as WebhookDelivery]
  const refunds = [{ id: 'rfd_1', amount: '3.00', asset: ASSET, created_at: at(4), claimed_at: null, sent_at: null, cancelled_at: null } as unknown as Refund]
  const found = timeline(events, [payment({})], deliveries, refunds)
  expect(found.map((one) => one.title)).toEqual(['Refund link made', 'Your server was told: overpaid', 'Payment final: more than asked', 'Payment seen', 'Invoice made'])
  expect(found.map((one) => one.detail)).toEqual(['3.00 USDC', 'Answered 200 in 184 ms', '51.00 USDC counted, 3.00 more than asked', '51.00 USDC on Base Sepolia', null])
  expect(found[3]?.payment?.id).toBe('pay_1')
})

test('the timeline tells of payments that changed no status: after the end, and taken back', () => {
  const found = timeline([event(1, 'invoice.cancelled', 1)], [payment({ status: 'refundable' }), payment({ id: 'pay_2', status: 'reversed' })], [], [])
  expect(found.map((one) => one.title)).toEqual(['The network took a payment back', 'A payment pays for nothing, and can be given back', 'Cancelled'])
})

test('attached data is read by lines; a name that every object has is a name like any other', () => {
  expect(readPairs('order: 10478\n\n basket : b:77 \nempty')).toEqual({ order: '10478', basket: 'b:77', empty: '' })
  expect(JSON.stringify(readPairs('__proto__: x'))).toBe('{"__proto__":"x"}')
})

test('a destination counts that is registered, or was when the invoice was made', () => {
  const change = (more: object) => ({ kind: 'destination', status: 'effective', family: 'eip155', from: '0xold', to: '0xnew', effective_at: at(5), ...more }) as unknown as Change
  expect(pinned({ eip155: '0xnew' }, [change({})], at(1)).destinations).toEqual({ eip155: ['0xnew', '0xold'] })
  expect(pinned({ eip155: '0xnew' }, [change({})], at(9)).destinations).toEqual({ eip155: ['0xnew'] })
  expect(pinned({ eip155: '0xnew' }, [change({ status: 'pending' }), change({ kind: 'webhook_url' }), change({ from: null })], at(1)).destinations).toEqual({ eip155: ['0xnew'] })
})

test('only addresses of the web are opened', () => {
  expect(isWeb('https://pay.example.com/checkout')).toBe(true)
  expect(isWeb('javascript:alert(1)')).toBe(false)
  expect(isWeb(' https://x')).toBe(false)
})
