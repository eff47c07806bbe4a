// Staying up to date when the network between payer and server does not help.

import type { BrowserContext, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { retryMs } from '../../src/api/live.ts'
import { BASE, openShop } from './shop.ts'
import { heading, look, visit } from './visit.ts'

const shop = await openShop()
const at = (id: string) => `${shop.pages}/i/${id}`

test('where streams do not get through, the page asks', async () => {
  const made = await shop.invoice([BASE])
  const { page, context, close } = await visit('about:blank')
  await context.route('**/events*', (route) => route.abort())
  await page.clock.install()
  await page.goto(at(made.id))
  await page.locator('.addr').waitFor()
  await shop.pay(made.id)
  await page.clock.runFor(12_000)
  await heading(page, 'Paid').waitFor()
  await close()
})

const INVOICE = '**/v1/checkout/invoices/*'

/** An answer that is none, as often as it is asked for. */
const refusing = (status: number) => (route: Route) =>
  route.fulfill({ status, headers: { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'retry-after', 'retry-after': '1' }, json: { error: { code: 'no' } } })

test.each([503, 429, 404, 401])('news that cannot be fetched (%i) takes the address away, and is asked for until it comes', async (status) => {
  const made = await shop.invoice([BASE])
  const { page, context, close } = await visit('about:blank')
  await page.clock.install()
  await page.goto(at(made.id))
  await page.locator('.addr').waitFor()
  await context.route(INVOICE, refusing(status))
  await shop.call('POST', `/v1/invoices/${made.id}/cancel`)
  await heading(page, 'Do not send anything now').waitFor()
  await page.getByText('Connection lost.').waitFor()
  expect(await page.locator('.addr, .tile').count()).toBe(0)
  if (status === 503) await look(page, 'unsure')
  await context.unroute(INVOICE)
  // The stream has said it once and says it no more; the page asks again after half a minute at most.
  await page.clock.runFor(retryMs(99, 0))
  await heading(page, 'Cancelled').waitFor()
  expect(await page.getByText('Connection lost.').count()).toBe(0)
  await close()
})

test('news whose answer hangs takes the address away too', async () => {
  const made = await shop.invoice([BASE])
  const { page, context, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  let answer: () => void = () => {}
  const hanging = new Promise<void>((go) => (answer = go))
  await context.route(INVOICE, async (route) => {
    await hanging
    await route.continue()
  })
  await shop.pay(made.id)
  await heading(page, 'Do not send anything now').waitFor()
  answer()
  await heading(page, 'Paid').waitFor()
  await close()
})

test('a question that was not answered is asked again at once, then more and more seldom, and never sooner than wished', () => {
  expect([1, 2, 3, 4, 5, 6].map((missed) => retryMs(missed, 0))).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  expect(retryMs(1, 20_000)).toBe(20_000)
})

/** The stream's connection is under way for as long as the test wants. */
async function slowly(context: BrowserContext): Promise<() => void> {
  let open: () => void = () => {}
  const waiting = new Promise<void>((go) => (open = go))
  await context.route('**/events*', async (route) => {
    await waiting
    await route.abort()
  })
  return open
}

test('a page that is opened part paid learns of the rest, also beside a stream that says nothing', async () => {
  const made = await shop.invoice([BASE])
  await shop.pay(made.id, { amount: '40.50' })
  const { page, context, close } = await visit('about:blank')
  const open = await slowly(context)
  await page.clock.install()
  await page.goto(at(made.id))
  await heading(page, '7.50 USDC').waitFor()
  await shop.pay(made.id, { asset: BASE, amount: '7.50', finality_steps: ['included'] })
  await page.clock.runFor(11_000)
  await page.getByText('The rest was seen and is being confirmed').waitFor()
  expect(await page.locator('.addr').count()).toBe(0)
  open()
  await close()
})

test('a page that is opened while a payment settles follows it, also beside a stream that says nothing', async () => {
  const made = await shop.invoice([BASE])
  await shop.pay(made.id, { finality_steps: ['pending'] })
  const { page, context, close } = await visit('about:blank')
  const open = await slowly(context)
  await page.clock.install()
  await page.goto(at(made.id))
  await heading(page, 'Payment seen').waitFor()
  await shop.pay(made.id)
  await page.clock.runFor(31_000)
  await heading(page, 'Paid').waitFor()
  open()
  await close()
})

test('the answer to a choice stands, also when another question was answered before it', async () => {
  const link = await shop.call<{ slug: string }>('POST', '/v1/payment_links', { amount_type: 'fixed', amount: '25.00', currency: 'USD', assets: [BASE] })
  const { page, context, close } = await visit(`${shop.pages}/l/${link.slug}`)
  await page.getByRole('button', { name: 'Pay $25.00' }).click()
  await heading(page, 'Choose how to pay').waitFor()
  // What is asked after the choice is answered before it, with how things were; and then nothing more.
  const before = page.waitForResponse((response) => response.request().method() === 'GET' && /invoices\/inv_\w+/.test(response.url()) && !response.url().includes('events'))
  await page.evaluate(() => dispatchEvent(new Event('online')))
  const old = await (await before).body()
  let isFirst = true
  await context.route(/invoices\/inv_\w+\?/, (route) => (isFirst ? ((isFirst = false), route.fulfill({ body: old, headers: { 'access-control-allow-origin': '*', 'content-type': 'application/json' } })) : route.abort()))
  await context.route('**/payment_option', async (route) => {
    const response = await route.fetch()
    const asked = page.waitForResponse(/invoices\/inv_\w+\?/)
    await page.evaluate(() => dispatchEvent(new Event('online')))
    await (await asked).finished()
    await route.fulfill({ response })
  })
  await page.getByRole('button', { name: /^Pay 25.00 USDC/ }).click()
  await page.locator('.addr').waitFor()
  await close()
})

test('an answer about another invoice is no answer', async () => {
  const [made, other] = [await shop.invoice([BASE]), await shop.invoice([BASE], '7.00')]
  const { page, context, close } = await visit('about:blank')
  await context.route(INVOICE, async (route) => route.fulfill({ response: await route.fetch({ url: route.request().url().replace(made.id, other.id) }) }))
  await page.goto(at(made.id))
  await heading(page, 'This page did not load').waitFor()
  await close()
})

test('a part of the page that did not come is fetched by loading the page anew', async () => {
  const made = await shop.invoice([BASE])
  const { page, context, close } = await visit('about:blank')
  let misses = 0
  await context.route('**/later-*.js', (route) => (misses++ < 2 ? route.abort() : route.continue()))
  await page.goto(at(made.id))
  await page.locator('.addr').waitFor()
  await shop.pay(made.id)
  await heading(page, 'Paid').waitFor()
  expect(misses).toBeGreaterThan(2)
  await close()
})

test('offline is said, copying goes on, and what happened meanwhile is there when it ends', async () => {
  const made = await shop.invoice([BASE])
  const { page, context, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  await context.setOffline(true)
  await page.getByText('Connection lost.').waitFor()
  expect(await page.locator('.addr').textContent()).toBe(made.payment_options[0]?.address)
  await page.getByRole('button', { name: 'Copy address' }).click()
  await page.getByText('Copied').first().waitFor()
  await look(page, 'offline')
  await shop.pay(made.id)
  await context.setOffline(false)
  await heading(page, 'Paid').waitFor()
  expect(await page.getByText('Connection lost.').count()).toBe(0)
  await close()
})

test('a page that was hidden asks at once when it is seen again', async () => {
  const made = await shop.invoice([BASE])
  const { page, context, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  await context.route('**/events*', (route) => route.abort())
  const hide = (hidden: boolean) =>
    page.evaluate((is) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => is })
      document.dispatchEvent(new Event('visibilitychange'))
    }, hidden)
  await hide(true)
  await shop.pay(made.id)
  await hide(false)
  await heading(page, 'Paid').waitFor()
  await close()
})

test('a server that is away when the page is opened can be asked again', async () => {
  const made = await shop.invoice([BASE])
  const { page, context, close } = await visit('about:blank')
  await context.route('**/v1/checkout/invoices/*', (route) => route.fulfill({ status: 503, json: { error: { code: 'service_unavailable' } } }))
  await page.goto(at(made.id))
  await heading(page, 'This page did not load').waitFor()
  // There is nothing yet that could be old.
  expect(await page.getByText('may be old').count()).toBe(0)
  await look(page, 'broken')
  await context.unroute('**/v1/checkout/invoices/*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.locator('.addr').waitFor()
  await close()
})

test('a page whose words do not come is not empty, and neither is one without its script', async () => {
  const made = await shop.invoice([BASE])
  for (const missing of ['**/assets/pay-*.js', '**/assets/*.js']) {
    const { page, context, close } = await visit('about:blank')
    await context.route(missing, (route) => route.abort())
    await page.goto(at(made.id))
    await page.getByText('the payment server cannot be reached').waitFor()
    await close()
  }
})

test('before anything is known the tab says whose page it is', async () => {
  const made = await shop.invoice([BASE])
  const { page, context, close } = await visit('about:blank')
  await context.route(INVOICE, () => {})
  await page.goto(at(made.id))
  await page.locator('.bone').first().waitFor()
  expect(await page.title()).toBe('Northwind Books')
  await close()
})

test('a server that has had enough says how long to wait', async () => {
  const made = await shop.invoice([BASE])
  const { page, context, close } = await visit('about:blank')
  await context.route('**/v1/checkout/invoices/*', (route) =>
    route.fulfill({ status: 429, headers: { 'retry-after': '20', 'access-control-allow-origin': '*', 'access-control-expose-headers': 'retry-after' }, json: { error: { code: 'rate_limited' } } }),
  )
  await page.goto(at(made.id))
  await page.getByText('Too many tries. Wait 20 seconds.').waitFor()
  await close()
})

test('nothing but the page’s own files and the API is asked for, in few requests', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit('about:blank')
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.goto(at(made.id))
  await page.locator('.addr').waitFor()
  // What the page may need later is fetched once it is drawn.
  const later = asked.findIndex((path) => path.includes('/later-'))
  const before = asked.slice(0, later < 0 ? undefined : later).filter((path) => !path.endsWith('/events'))
  expect(before.length, before.join(' ')).toBeLessThanOrEqual(6)
  await close()
})
