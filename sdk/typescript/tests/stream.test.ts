// Live streams that break off.

import { ConnectionError, InvalidRequestError } from 'till-sdk'
import { expect, test } from 'vitest'
import { client, network, order, publishableKey, till } from './shop.ts'

/** The answer, cut off after its first event. */
function cutAfterFirst(response: Response): Response {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let isCut = false
  const cut = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (isCut) return controller.error(new TypeError('the connection was lost'))
      const { value } = await reader.read()
      const text = decoder.decode(value)
      const event = /^[^]*?data:.*\n\n/.exec(text)?.[0]
      isCut = event !== undefined
      controller.enqueue(new TextEncoder().encode((event ?? text).replace(/retry: \d+/, 'retry: 10')))
      if (isCut) await reader.cancel()
    },
  })
  return new Response(cut, { status: response.status })
}

test('a stream goes on where it broke off, with every event once and in order', async () => {
  const invoice = await order()
  await till.testHelpers.simulatePayment(invoice.id, { amount: '10.00' })
  const { asked, fetch } = network(async (_, pass) => cutAfterFirst(await pass()))
  const seen: [number, string][] = []
  for await (const event of client({ fetch }).invoices.events(invoice.id)) {
    seen.push([event.id, event.type])
    if (event.type === 'invoice.partially_paid') await till.testHelpers.simulatePayment(invoice.id, { amount: '15.00' })
    if (event.invoice.status === 'paid') break
  }
  expect(seen.map(([id]) => id)).toEqual(seen.map((_, at) => at + 1))
  expect(seen.map(([, type]) => type)).toEqual(expect.arrayContaining(['invoice.created', 'invoice.partially_paid', 'invoice.paid']))
  expect(asked).toHaveLength(seen.length)
})

test('a stream can begin after an event, with the publishable key too', async () => {
  const invoice = await order()
  await till.testHelpers.simulatePayment(invoice.id)
  const stream = client({ key: publishableKey }).invoices.events(invoice.id, { after: 1 })
  const first = await stream.next()
  expect(first.value).toMatchObject({ id: 2, type: 'invoice.detected' })
  await stream.return?.()
})

test('a stream that cannot be opened says why, at once or after some tries', async () => {
  await expect(till.invoices.events('inv_none').next()).rejects.toBeInstanceOf(InvalidRequestError)
  const { asked, fetch } = network(() => Promise.reject(new TypeError('no route')))
  await expect(client({ fetch, maxRetries: 1 }).invoices.events('inv_1').next()).rejects.toBeInstanceOf(ConnectionError)
  expect(asked).toHaveLength(2)
})

test('a stream on which nothing happens is opened again as often as it is cut, after the time that the server names', async () => {
  const invoice = await order()
  const { asked, fetch } = network((count, pass) =>
    count > 5 ? pass() : Promise.resolve(new Response('retry: 700\n\n: heartbeat\n\n', { status: 200 })),
  )
  const first = await client({ fetch, maxRetries: 1 }).invoices.events(invoice.id).next()
  expect(first.value).toMatchObject({ id: 1 })
  expect(asked).toHaveLength(6)
  for (const [at, one] of asked.entries()) if (at > 0) expect(one.at - (asked[at - 1]?.at ?? 0)).toBeGreaterThanOrEqual(690)

  const ending = network(() => Promise.resolve(new Response('retry: 10\n\n', { status: 200 })))
  await expect(client({ fetch: ending.fetch, maxRetries: 1 }).invoices.events(invoice.id).next()).rejects.toThrow('ends each time')
})

test('a stream ends when its reader is told to stop', async () => {
  const invoice = await order()
  const stop = new AbortController()
  const stream = till.invoices.events(invoice.id, { signal: stop.signal })
  await stream.next()
  const waiting = stream.next()
  stop.abort(new Error('seen enough'))
  await expect(waiting).rejects.toThrow('seen enough')
})
