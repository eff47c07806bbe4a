// Staying up to date when the network between payer and server does not help.

import { expect, test } from 'vitest'
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
  await look(page, 'broken')
  await context.unroute('**/v1/checkout/invoices/*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.locator('.addr').waitFor()
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
  const before = asked.filter((path) => !path.endsWith('/events'))
  expect(before.length, before.join(' ')).toBeLessThanOrEqual(6)
  await close()
})
