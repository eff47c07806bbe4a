import { expect, test } from 'vitest'
import { readPairs, writePairs } from '../src/parts/metadata.tsx'
import { changesOf, type LinkValues, localMoment, requestOf } from '../src/screens/links/edit.tsx'
import type { PaymentLink as Link } from '#shared/api/types.ts'
import { priceOf, sharing, standing } from '../src/screens/links/status.tsx'

const VALUES: LinkValues = {
  amount_type: 'fixed',
  amount: '25,5',
  currency: 'usd',
  min_amount: '1',
  max_amount: '',
  description: ' Two books ',
  quantity_limit: '10',
  expires_at: '',
  return_url: '',
  assets: '',
  metadata: 'order = 7\nnote=a=b',
}

test('what was typed becomes what the API takes', () => {
  expect(requestOf(VALUES)).toEqual({
    amount_type: 'fixed',
    currency: 'USD',
    amount: '25.5',
    min_amount: null,
    max_amount: null,
    description: 'Two books',
    quantity_limit: 10,
    expires_at: null,
    return_url: null,
    assets: null,
    metadata: { order: '7', note: 'a=b' },
  })
  const chosen = requestOf({ ...VALUES, amount_type: 'payer_chosen', assets: 'USDC@eip155:84532 BTC@bip122:x' })
  expect([chosen.amount, chosen.min_amount, chosen.assets]).toEqual([null, '1', ['USDC@eip155:84532', 'BTC@bip122:x']])
  // What cannot be understood is sent as it is, and refused at its field.
  expect(requestOf({ ...VALUES, amount: '1.000,5' }).amount).toBe('1.000,5')
  expect(requestOf({ ...VALUES, quantity_limit: 'many' }).quantity_limit).toBe('many')
})

test('only what was changed is sent, and an emptied field clears', () => {
  expect(changesOf(VALUES, VALUES)).toEqual({})
  expect(changesOf(VALUES, { ...VALUES, description: '', quantity_limit: '11' })).toEqual({ description: null, quantity_limit: 11 })
})

test('a moment survives the way into the field and back', () => {
  const at = '2026-12-24T18:30:00.000Z'
  expect(new Date(localMoment(at)).toISOString()).toBe(at)
})

test('pairs: every line has a name once, or nothing is sent', () => {
  expect(readPairs('')).toEqual({})
  expect(readPairs('a = 1\n\n b=')).toEqual({ a: '1', b: '' })
  expect(readPairs('__proto__ = x')).toEqual(JSON.parse('{"__proto__":"x"}'))
  for (const odd of ['a', '= 1', 'a=1\na=2']) expect(readPairs(odd), odd).toBeNull()
  expect(readPairs(writePairs({ order: '7', note: 'a=b' }))).toEqual({ order: '7', note: 'a=b' })
})

test('a link says why it turns payers away, as the server does', () => {
  const link = { active: true, expires_at: null, quantity_limit: 5, quantity_used: 2, amount_type: 'payer_chosen', min_amount: '5', max_amount: null, currency: 'USD' } as Link
  const now = Date.parse('2026-11-17T12:00:00Z')
  expect(standing(link, now)).toBe('on')
  expect(standing({ ...link, quantity_used: 5 }, now)).toBe('sold_out')
  expect(standing({ ...link, expires_at: '2026-11-17T12:00:00Z' }, now)).toBe('ended')
  expect(standing({ ...link, active: false, expires_at: '2026-11-17T12:00:00Z' }, now)).toBe('off')
  expect(priceOf(link)).toBe('From 5.00 USD')
  expect(priceOf({ ...link, min_amount: null })).toBe('Any amount in USD')
  expect(priceOf({ ...link, amount_type: 'fixed', amount: '1150' })).toBe('1,150.00 USD')
})

test('only a web address with the key is given to payers', () => {
  const at = (url: string) => sharing({ url } as Link)
  expect(at('https://pay.example.com/l/abc?key=till_test_pk_1')).toBe('whole')
  expect(at('https://pay.example.com/l/abc')).toBe('keyless')
  for (const odd of ['javascript:alert(1)//?key=x', 'data:text/html,x?key=x', 'nothing', '']) expect(at(odd), odd).toBe('broken')
})
