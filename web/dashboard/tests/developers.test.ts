// What the screens for developers compute: commands, days, countdowns.

import { expect, test } from 'vitest'
import { parts } from '../src/parts/change.tsx'
import { CALLS, type Call, curl, fieldsOf, isTestKey, quoted } from '../src/screens/developers/curl.ts'
import { byDay, notArrived } from '../src/screens/developers/health.ts'

const API = 'http://localhost:4242/v1'
const call = (name: string) => CALLS[name] as Call

test('a command says what was filled in, and reads the key from the shell', () => {
  expect(curl(API, call('create_invoice'), { amount: '25.00', currency: 'USD', description: '' }, '', 'test')).toBe(
    `curl 'http://localhost:4242/v1/invoices' \\
  -H "Authorization: Bearer $TILL_TEST_KEY" \\
  -H "Idempotency-Key: $(uuidgen)" \\
  -H 'Content-Type: application/json' \\
  -d '{"amount":"25.00","currency":"USD"}'`,
  )
  expect(curl(API, call('list_invoices'), { status: 'paid', limit: '5' }, '', 'live')).toBe(
    `curl 'http://localhost:4242/v1/invoices?status=paid&limit=5' \\
  -H "Authorization: Bearer $TILL_LIVE_KEY"`,
  )
})

test('nothing that was typed leaves its quotes', () => {
  expect(quoted("it's $(rm)")).toBe(`'it'\\''s $(rm)'`)
  const command = curl(API, call('retrieve_invoice'), { invoice: "../x' ; rm" }, '', 'test')
  expect(command).toContain(`/invoices/..%2Fx'\\''%20%3B%20rm'`)
})

test('only a secret test key stands in a command, and only in test mode', () => {
  const key = 'till_test_sk_abc123'
  expect(isTestKey(key)).toBe(true)
  expect(isTestKey('till_test_sk_b_0123abcd')).toBe(true)
  expect(curl(API, call('list_invoices'), {}, key, 'test')).toContain(key)
  expect(curl(API, call('list_invoices'), {}, key, 'live')).not.toContain(key)
  for (const other of ['till_live_sk_abc123', 'till_test_pk_abc', "till_test_sk_'; rm", '']) {
    expect(isTestKey(other)).toBe(false)
    if (other) expect(curl(API, call('list_invoices'), {}, other, 'test')).not.toContain(other)
  }
})

test('every call can be filled in: what it needs has a field', () => {
  for (const one of Object.values(CALLS)) for (const needed of one.needs) expect(fieldsOf(one)).toContain(needed)
})

test('deliveries by day: every day is there, failures are counted apart', () => {
  const now = Date.parse('2026-11-17T10:00:00Z')
  const points = byDay(
    [
      { created_at: '2026-11-17T09:00:00Z', status: 'succeeded' },
      { created_at: '2026-11-17T08:00:00Z', status: 'failed' },
      { created_at: '2026-11-15T23:59:59Z', status: 'succeeded' },
      { created_at: '2026-11-01T00:00:00Z', status: 'failed' },
    ],
    now,
    3,
  )
  expect(points.map((point) => [point.text, point.more, point.isOpen])).toEqual([
    ['1', '', false],
    ['0', '', false],
    ['2', 'of them 1 failed', true],
  ])
})

test('what has not arrived: events whose last finished try failed, each once, the oldest event first', () => {
  const tries: { id: string; event: string; status: 'pending' | 'succeeded' | 'failed' }[] = [
    { id: '9', event: 'evt_a0', status: 'failed' },
    { id: '8', event: 'evt_d', status: 'failed' },
    { id: '7', event: 'evt_d', status: 'failed' },
    { id: '6', event: 'evt_c', status: 'pending' },
    { id: '5', event: 'evt_c', status: 'failed' },
    { id: '4', event: 'evt_b', status: 'succeeded' },
    { id: '3', event: 'evt_b', status: 'failed' },
    { id: '2', event: 'evt_c', status: 'failed' },
    { id: '1', event: 'evt_a', status: 'pending' },
  ]
  expect(notArrived(tries).map(({ id }) => id)).toEqual(['9', '5', '8'])
})

test('a countdown names its largest two units, and never runs below nothing', () => {
  expect(parts(46 * 3_600_000 + 12 * 60_000)).toEqual([
    [1, 'day'],
    [22, 'hour'],
  ])
  expect(parts(61_000)).toEqual([
    [1, 'minute'],
    [1, 'second'],
  ])
  expect(parts(-5)).toEqual([[0, 'second']])
})
