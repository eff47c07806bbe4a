// Each example shop, started by its one command and used by a payer in Chromium. Run below scripts/with-till.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const { chromium } = createRequire(new URL('../../web/package.json', import.meta.url))('playwright-core')
const CHROMIUM = process.env.CHECKOUT_CHROMIUM ?? '/usr/bin/chromium'
const OURS = ['TILL_URL', 'TILL_SECRET_KEY', 'TILL_PUBLISHABLE_KEY', 'TILL_WEBHOOK_SECRET']

let browser
before(async () => {
  browser = await chromium.launch({ executablePath: CHROMIUM })
})
after(() => browser.close())

const call = async (method, path, body) => {
  const response = await fetch(process.env.TILL_URL + path, {
    method,
    headers: {
      authorization: `Bearer ${process.env.TILL_SECRET_KEY}`,
      'content-type': 'application/json',
      ...(method === 'POST' ? { 'idempotency-key': crypto.randomUUID() } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const answer = await response.json()
  assert.ok(response.ok, answer.error?.message)
  return answer
}

const freePort = () =>
  new Promise((found) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => found(port))
    })
  })

/** Starts a shop, and stops it after the test; where it is. */
async function open(context, name, environment = process.env) {
  const start = fileURLToPath(new URL(`../${name}/start`, import.meta.url))
  const env = { ...environment, PORT: String(await freePort()) }
  const shop = spawn(start, [], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((done) => shop.once('exit', done))
  context.after(() => {
    shop.kill()
    return ended
  })
  return new Promise((found, failed) => {
    createInterface(shop.stdout).on('line', (line) => {
      const [url] = /http:\/\/[\d.:]+/.exec(line) ?? []
      if (url) found(url)
    })
    ended.then((code) => failed(new Error(`${name}/start ended with ${code}`)))
  })
}

/** Opens a page, and closes it after the test. */
async function visit(context, url) {
  const payer = await browser.newContext({ locale: 'en-US' })
  context.after(() => payer.close())
  const page = await payer.newPage()
  page.setDefaultTimeout(20_000)
  await page.goto(url)
  return { page, payer }
}

const invoiceOf = (page) => /inv_\w+/.exec(page.url())?.[0]

async function checkOrders(context, name) {
  const url = await open(context, name)
  const { page } = await visit(context, url)
  await page.getByRole('button', { name: 'Buy' }).click()
  await page.waitForURL(/\/checkout\/i\/inv_/)
  await page.getByText('A tin of tea').first().waitFor()
  const invoice = invoiceOf(page)

  // Whoever makes up a webhook gets nothing by it.
  const { customer_ref: order } = await call('GET', `/v1/invoices/${invoice}`)
  const event = { id: 'evt_1', object: 'event', type: 'invoice.paid', data: { object: { id: invoice, customer_ref: order } } }
  for (const signature of [undefined, `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}`]) {
    const headers = signature ? { 'x-service-signature': signature } : {}
    const forged = await fetch(`${url}/webhooks`, { method: 'POST', headers, body: JSON.stringify(event) })
    assert.equal(forged.status, 400)
  }
  assert.match(await (await fetch(`${url}/orders/${order}`)).text(), /Waiting for the payment/)
  assert.equal((await fetch(`${url}/orders/unknown`)).status, 404)

  await call('POST', `/v1/test_helpers/invoices/${invoice}/simulate_payment`, {})
  await page.getByRole('heading', { name: 'Paid' }).waitFor()
  await page.getByRole('link', { name: /return/i }).click()
  await page.waitForURL(`${url}/orders/${order}`)
  await page.getByText('1 parcel is on its way').waitFor()

  // The same event again sends no second parcel.
  const { data } = await call('GET', `/v1/webhook_deliveries?invoice=${invoice}&event_type=invoice.paid`)
  await call('POST', `/v1/webhook_deliveries/${data[0].id}/replay`)
  for (let succeeded = 0; succeeded < 2; ) {
    await new Promise((done) => setTimeout(done, 100))
    const { data: all } = await call('GET', `/v1/webhook_deliveries?invoice=${invoice}&event_type=invoice.paid`)
    succeeded = all.filter((one) => one.status === 'succeeded').length
  }
  await page.reload()
  await page.getByText('1 parcel is on its way').waitFor()
}

test('the Express shop sells a tin of tea', { timeout: 120_000 }, (context) => checkOrders(context, 'express'))

test('the FastAPI shop sells a tin of tea', { timeout: 120_000 }, (context) => checkOrders(context, 'fastapi'))

test('the static page sells a tin of tea with a payment link', { timeout: 120_000 }, async (context) => {
  const { page, payer } = await visit(context, await open(context, 'static'))
  const opened = payer.waitForEvent('page')
  await page.getByRole('button', { name: 'Pay $25' }).click()
  const checkout = await opened
  await checkout.waitForURL(/\/checkout\/i\/inv_/)
  await checkout.getByRole('button', { name: /^Pay 25\.00/ }).click()
  await checkout.locator('.addr').waitFor()
  assert.equal(await page.getByText('Thank you!').isVisible(), false)
  await call('POST', `/v1/test_helpers/invoices/${invoiceOf(checkout)}/simulate_payment`, {})
  await checkout.getByRole('heading', { name: 'Paid' }).waitFor()
  await page.getByText('Thank you! Your tea is on its way.').waitFor()
})

test('a shop that is started by itself brings a server whose checkout pays with test money', { timeout: 120_000 }, async (context) => {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OURS.includes(name)))
  const { page } = await visit(context, await open(context, 'express', environment))
  await page.getByRole('button', { name: 'Buy' }).click()
  await page.waitForURL(/\/checkout\/i\/inv_/)
  await page.getByRole('button', { name: /^The exact amount/ }).click()
  await page.getByRole('heading', { name: 'Paid' }).waitFor()
  await page.getByRole('link', { name: /return/i }).click()
  await page.getByText('1 parcel is on its way').waitFor()
})
