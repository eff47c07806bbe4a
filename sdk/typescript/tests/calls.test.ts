// Calls, lists and errors, and what the network can do to them.

import {
  ApiError,
  AuthenticationError,
  ConnectionError,
  IdempotencyError,
  InvalidRequestError,
  isApiError,
  PermissionError,
  RateLimitError,
} from 'till-sdk'
import { expect, test } from 'vitest'
import { client, network, order, publishableKey, till, url } from './shop.ts'

const refused = (status: number, headers: Record<string, string> = {}, error: object = {}) =>
  Promise.resolve(new Response(JSON.stringify({ error }), { status, headers }))

test('an invoice is created, paid with the test helper and found again', async () => {
  const made = await till.invoices.create({ amount: '25.00', currency: 'USD', customer_ref: 'order 7', metadata: { cart: '12' } })
  expect(made).toMatchObject({ object: 'invoice', status: 'awaiting_payment', metadata: { cart: '12' } })
  expect((await till.testHelpers.simulatePayment(made.id)).status).toBe('paid')
  expect((await till.invoices.retrieve(made.id)).status).toBe('paid')
  const { data } = await till.payments.list({ invoice: made.id })
  expect(data).toMatchObject([{ status: 'credited', invoice: made.id }])
})

test('what was left out stays as it is, and null clears it', async () => {
  const link = await till.paymentLinks.create({ amount_type: 'fixed', amount: '5.00', currency: 'USD', description: 'Tea' })
  expect((await till.paymentLinks.update(link.id, { amount: '6.00' })).description).toBe('Tea')
  expect((await till.paymentLinks.update(link.id, { description: null })).description).toBeNull()
})

test('a call with an optional body can be made without one', async () => {
  const customer = await till.customers.create()
  expect(customer.name).toBeNull()
  const invoice = await order()
  await till.testHelpers.simulatePayment(invoice.id, { amount: '30.00' })
  expect(await till.refunds.create(invoice.id)).toMatchObject({ amount: '5.00', status: 'unclaimed' })
})

test('a report comes as text', async () => {
  expect(await till.reconciliation.export()).toMatch(/^section,asset,item,amount/)
})

test('iterating over a list goes through all pages, and awaiting it gives the first', async () => {
  const reference = `pages ${crypto.randomUUID()}`
  const made: string[] = []
  for (let count = 0; count < 5; count++) {
    made.unshift((await till.invoices.create({ amount: '1.00', currency: 'USD', customer_ref: reference })).id)
  }
  const found: string[] = []
  const { asked, fetch } = network((_, pass) => pass())
  for await (const invoice of client({ fetch }).invoices.list({ limit: 2, customer_ref: reference })) found.push(invoice.id)
  expect(found).toEqual(made)
  expect(asked).toHaveLength(3)

  const page = await till.invoices.list({ limit: 2, customer_ref: reference })
  expect(page.data.map((one) => one.id)).toEqual(made.slice(0, 2))
  const next = await till.invoices.list({ limit: 2, customer_ref: reference, cursor: page.next_cursor as string })
  expect(next.data.map((one) => one.id)).toEqual(made.slice(2, 4))
})

test('errors have the class of their type and the code of the API', async () => {
  const failed = (call: PromiseLike<unknown>) => Promise.resolve(call).then(() => null, (error: unknown) => error)
  const missing = await failed(till.invoices.retrieve('inv_none'))
  expect(missing).toBeInstanceOf(InvalidRequestError)
  expect(missing).toMatchObject({ status: 404, code: 'resource_missing', requestId: expect.stringMatching(/^req_/) })
  expect(isApiError(missing, 'resource_missing')).toBe(true)
  expect(isApiError(missing, 'plan_archived')).toBe(false)
  expect(await failed(till.invoices.create({ amount: 'x', currency: 'USD' }))).toMatchObject({ code: 'parameter_invalid', param: 'amount' })
  expect(await failed(client({ key: 'till_test_sk_wrong' }).invoices.list())).toBeInstanceOf(AuthenticationError)
  expect(await failed(client({ key: publishableKey }).invoices.list())).toBeInstanceOf(PermissionError)
  const key = crypto.randomUUID()
  await till.invoices.create({ amount: '1.00', currency: 'USD' }, { idempotencyKey: key })
  const reused = await failed(till.invoices.create({ amount: '2.00', currency: 'USD' }, { idempotencyKey: key }))
  expect(reused).toBeInstanceOf(IdempotencyError)
  expect(reused).toMatchObject({ code: 'idempotency_key_reused' })
})

test('a call whose answer was lost is made again with the same key, and happens once', async () => {
  const reference = `lost ${crypto.randomUUID()}`
  const { asked, fetch } = network(async (count, pass) => {
    const response = await pass()
    if (count === 1) throw new TypeError('the connection was lost')
    return count === 2 ? new Response('{"id": "inv_', { status: 201 }) : response
  })
  const made = await client({ fetch }).invoices.create({ amount: '25.00', currency: 'USD', customer_ref: reference })
  expect(asked).toHaveLength(3)
  expect(new Set(asked.map((one) => one.idempotencyKey)).size).toBe(1)
  const { data } = await till.invoices.list({ customer_ref: reference })
  expect(data.map((one) => one.id)).toEqual([made.id])
})

test('a server in trouble is asked again, and the waiting it asks for is kept', async () => {
  const { asked, fetch } = network((count, pass) => {
    if (count === 1) return refused(503)
    if (count === 2) return refused(429, { 'retry-after': '1' }, { type: 'rate_limit_error', code: 'rate_limited' })
    if (count === 3) return refused(409, {}, { type: 'idempotency_error', code: 'idempotency_key_in_use' })
    return pass()
  })
  await client({ fetch }).invoices.create({ amount: '25.00', currency: 'USD' })
  expect(asked).toHaveLength(4)
  expect((asked[2]?.at ?? 0) - (asked[1]?.at ?? 0)).toBeGreaterThanOrEqual(990)
})

test('a longer wait than a minute is left to the caller, and so is a failure that lasts', async () => {
  const limited = network(() => refused(429, { 'retry-after': '3600' }, { type: 'rate_limit_error', code: 'rate_limited' }))
  const error = await client({ fetch: limited.fetch }).invoices.retrieve('inv_1').catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(RateLimitError)
  expect(error).toMatchObject({ retryAfter: 3600, code: 'rate_limited' })
  expect(limited.asked).toHaveLength(1)

  const broken = network(() => Promise.resolve(new Response('<h1>Bad gateway</h1>', { status: 502 })))
  const failure = await client({ fetch: broken.fetch, maxRetries: 1 }).invoices.retrieve('inv_1').catch((caught: unknown) => caught)
  expect(failure).toBeInstanceOf(ApiError)
  expect(failure).toMatchObject({ status: 502, code: 'http_502' })
  expect(broken.asked).toHaveLength(2)
})

test('what the request itself is wrong about is not asked again', async () => {
  const { asked, fetch } = network((_, pass) => pass())
  await expect(client({ fetch }).invoices.retrieve('inv_none')).rejects.toBeInstanceOf(InvalidRequestError)
  expect(asked).toHaveLength(1)
})

test('a call that nobody answers fails in time and names the key to repeat it with', async () => {
  const never = network(() => Promise.reject(new TypeError('no route')))
  const error = await client({ fetch: never.fetch, maxRetries: 0 }).invoices.create({ amount: '1.00', currency: 'USD' }, { idempotencyKey: 'mine' }).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(ConnectionError)
  expect(error).toMatchObject({ idempotencyKey: 'mine' })

  const claim = await client({ fetch: never.fetch, maxRetries: 0 }).refundClaims.retrieve('secret').catch((caught: unknown) => caught)
  expect(String(claim)).toBe('ConnectionError: GET /v1/refund_claims/… was not answered')

  const slow: typeof fetch = (_, init) => new Promise((_, failed) => init?.signal?.addEventListener('abort', () => failed(init.signal?.reason)))
  await expect(client({ fetch: slow, maxRetries: 0, timeoutMs: 50 }).invoices.retrieve('inv_1')).rejects.toBeInstanceOf(ConnectionError)
})

test('a caller can stop a call, and that is no failure of the network', async () => {
  const stop = new AbortController()
  const { asked, fetch } = network(() => {
    stop.abort(new Error('changed my mind'))
    return Promise.reject(new TypeError('stopped'))
  })
  await expect(client({ fetch }).invoices.retrieve('inv_1', { signal: stop.signal })).rejects.toThrow('changed my mind')
  expect(asked).toHaveLength(1)
})

test('every call leads to an endpoint of the server that takes what it sends', async () => {
  const { asked, fetch } = network((_, pass) => pass())
  const shop = client({ fetch, maxRetries: 0 })
  for (const resource of Object.values(shop) as object[]) {
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(resource))) {
      // The other tests still want their webhook secret.
      if (['constructor', 'rollWebhookSecret'].includes(name)) continue
      const call = (resource as Record<string, (...given: unknown[]) => PromiseLike<unknown> | AsyncIterator<unknown>>)[name]
      const made = call?.call(resource, 'none', {})
      const answer = made && 'next' in made ? made.next() : made
      const error = await Promise.resolve(answer).then(() => null, (caught: unknown) => caught)
      if (error === null) continue
      expect(error, name).toBeInstanceOf(ApiError)
      expect(['route_not_found', 'method_not_allowed'], name).not.toContain((error as ApiError).code)
    }
  }
  expect(asked.length).toBeGreaterThan(50)
})

test('an id is one segment of a path whatever it holds', async () => {
  const { asked, fetch } = network((_, pass) => pass())
  await expect(client({ fetch }).invoices.retrieve('../payments?limit=1')).rejects.toMatchObject({ status: 404 })
  expect(asked[0]?.path).toBe('/v1/invoices/..%2Fpayments%3Flimit%3D1')
  expect(() => till.invoices.retrieve('')).toThrow('is no id')
})

test('a client without an address or a key says so at once', () => {
  for (const wrong of ['', 'pay.example.com', url.replace('http:', 'ftp:')]) expect(() => client({ url: wrong })).toThrow('no address')
  expect(() => client({ key: '' })).toThrow('no key')
})
