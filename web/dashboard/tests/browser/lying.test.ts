// A server, or somebody on the way, that lies: no address is shown that does not follow from the registered destination, and
// nothing in a field runs.

import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { startTill } from './server.ts'
import { arrive, expectCalm, heading, look, person } from './visit.ts'

const server = await startTill()
const owner = await person()
await arrive(owner, server)
const { page } = owner

const THIEF = '0x00000000000000000000000000000000DeaDBeef'
const PAGES = ['', '/invoices', '/payments', '/payments/unattributed', '/reviews']

type Json = Record<string, unknown>

/** Changes the answers to a path on their way. */
async function change(to: Page, path: string | RegExp, how: (text: string) => string): Promise<void> {
  await to.route(path, async (route: Route) => {
    const answer = await route.fetch()
    await route.fulfill({ response: answer, body: how(await answer.text()) })
  })
}

/** The stream never ends by itself: what it says so far is said, and then the connection is lost. */
async function changeStream(to: Page, id: string, how: (data: Json) => void): Promise<void> {
  await to.route(`**/v1/invoices/${id}/events`, async (route) => {
    const checkout = await fetch(`${server.origin}/v1/checkout/invoices/${id}`, { headers: { authorization: `Bearer ${server.secretKey}` } })
    const invoice = (await checkout.json()) as Json
    how(invoice)
    const event = { id: 1, type: 'invoice.created', invoice_id: id, created_at: invoice.created_at, invoice }
    await route.fulfill({ contentType: 'text/event-stream', body: `id: 1\nevent: invoice.created\ndata: ${JSON.stringify(event)}\n\n` })
  })
}

async function open(id: string): Promise<void> {
  await page.goto(`${server.origin}/dashboard/test/invoices/${id}`)
  await heading(page, /USD/).waitFor()
}

const options = (invoice: Json) => invoice.payment_options as { address: string; address_derivation: Json; network: string }[]

test.each([
  ['the address alone', (invoice: Json) => options(invoice).forEach((option) => (option.address = THIEF))],
  [
    'the address and whose it is',
    (invoice: Json) =>
      options(invoice).forEach((option) => {
        option.address = THIEF
        option.address_derivation.destination = THIEF
      }),
  ],
  ['what it was computed from', (invoice: Json) => options(invoice).forEach((option) => (option.address_derivation.salt = `0x${'11'.repeat(32)}`))],
  ['who deploys it', (invoice: Json) => options(invoice).forEach((option) => (option.address_derivation.factory = THIEF))],
  ['nothing to compute from', (invoice: Json) => options(invoice).forEach((option) => Object.assign(option, { address: THIEF, address_derivation: null }))],
  ['nonsense', (invoice: Json) => options(invoice).forEach((option) => Object.assign(option, { address_derivation: { scheme: 'create2_forwarder_v1', factory: 7, salt: [], destination: {} } }))],
])('an invoice whose stream changes %s: a warning, and no address', async (_, lie) => {
  const { id } = await server.invoice('48.00')
  await changeStream(page, id, lie)
  await open(id)
  await page.getByText('An address here does not belong to you').waitFor()
  expect(await page.locator('.addr').count()).toBe(0)
  expect(await page.content()).not.toContain(THIEF)
  await look(page, 'invoice-lie')
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('addresses in other answers are never shown', async () => {
  const { id } = await server.invoice('48.00')
  await server.pay(id, { amount: '20.00' })
  const lie = (text: string) => text.replace(/"(address|to)":"[^"]*"/g, `"$1":"${THIEF}"`)
  await change(page, `**/v1/invoices/${id}`, lie)
  await change(page, '**/v1/invoices?**', lie)
  await change(page, '**/v1/payments?**', lie)
  await open(id)
  await page.getByText('Worked out again in this browser').first().waitFor()
  expect(await page.content()).not.toContain(THIEF)
  for (const path of PAGES) {
    await page.goto(`${server.origin}/dashboard/test${path}`)
    await page.locator('h1').waitFor()
    expect(await page.content(), path).not.toContain(THIEF)
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('a destination that is another’s: no address follows from it', async () => {
  const { id } = await server.invoice('48.00')
  await change(page, '**/v1/merchant/settings', (text) => text.replace(/"eip155":"[^"]*"/, `"eip155":"${THIEF}"`))
  await open(id)
  await page.getByText('An address here does not belong to you').waitFor()
  // The other network's address follows from its own destination.
  expect(await page.locator('.addr').count()).toBe(1)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('nothing in a field runs: texts are texts, and links lead to the web or nowhere', async () => {
  const script = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>'
  const { id } = await server.invoice('48.00', script)
  await server.pay(id, { amount: '20.00' })
  const texts = /"(description|customer_ref|network_name|name|symbol|error|note|hold|tx_hash|from|event_type)":"(?:[^"\\]|\\.)*"/g
  const lie = (text: string) =>
    text
      .replace(texts, `"$1":${JSON.stringify(script)}`)
      .replace(/"(checkout_url|url|claim_url)":"[^"]*"/g, '"$1":"javascript:window.ran=1"')
      .replace(/"metadata":\{[^}]*\}/g, `"metadata":{"__proto__":${JSON.stringify(script)},${JSON.stringify(script)}:"x"}`)
  await change(page, /\/v1\/(?!.*\/events)/, lie)
  await changeStream(page, id, (invoice) => Object.assign(invoice, JSON.parse(lie(JSON.stringify(invoice)))))
  for (const path of [...PAGES, `/invoices/${id}`, `/reviews/${id}`]) {
    await page.goto(`${server.origin}/dashboard/test${path}`)
    await page.locator('h1').waitFor()
    expect(await page.evaluate(() => document.querySelectorAll('img, main script, [onerror], a[href^="javascript:"]').length), path).toBe(0)
    expect(await page.evaluate(() => 'ran' in window), path).toBe(false)
  }
  expectCalm(page)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})
