// The button as it is built, in a page of another origin whose policy allows no style or script of its own.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { BASE, openShop } from '../../checkout/tests/browser/shop.ts'
import { expectCalm, visit } from '../../checkout/tests/browser/visit.ts'

const shop = await openShop()
const SCRIPT = readFileSync(new URL('../../dist/button/till-button.js', import.meta.url))
const LISTEN = `globalThis.told = []
for (const name of ['till-status', 'till-paid', 'till-error']) document.addEventListener(name, (event) => told.push([name, event.detail]))`

let body = ''
const policy = `default-src 'none'; script-src 'self'; connect-src ${shop.base_url}; require-trusted-types-for 'script'`
const host = createServer((request, response) => {
  const [type, text] = { '/': ['text/html', body], '/button.js': ['text/javascript', SCRIPT], '/page.js': ['text/javascript', LISTEN] }[request.url ?? ''] ?? []
  response.writeHead(text ? 200 : 404, { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': policy }).end(text)
})
await new Promise<void>((ready) => host.listen(0, '127.0.0.1', ready))
afterAll(() => {
  host.closeAllConnections()
  host.close()
})

/** A page with this button on it. */
async function page(button: string) {
  body = `<!doctype html><html lang="en"><title>Shop</title><script src="/page.js"></script><script type="module" src="/button.js"></script><main>${button}</main>`
  return visit(`http://127.0.0.1:${(host.address() as AddressInfo).port}/`)
}

type Told = [string, { invoice?: string; status?: string; code?: string }][]
const told = (page: Page): Promise<Told> => page.evaluate('told')
const toldOf = async (page: Page, name: string) => {
  const found = async () => (await told(page)).filter(([one]) => one === name).map(([, detail]) => detail)
  await expect.poll(async () => (await found()).length, { timeout: 20_000 }).toBeGreaterThan(0)
  return found()
}

const link = (fields: object = {}) =>
  shop.call<{ url: string; id: string }>('POST', '/v1/payment_links', { amount_type: 'fixed', amount: '25.00', currency: 'USD', assets: [BASE], ...fields })

const pay = async (id: string) => {
  // A link's invoice has an address once a network was picked.
  await shop.call('POST', `/v1/checkout/invoices/${id}/payment_option`, { asset: BASE })
  return shop.pay(id, { asset: BASE })
}

test('a link’s checkout opens beside the page, and the page is told when it is paid', async () => {
  const { url } = await link()
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, button = ''] = /```html\n(?:<script.*\n)*([^]*?)```/.exec(readme) ?? []
  const { page: shown, context, close } = await page(button.replace(/href="[^"]*"/, `href="${url}"`))
  const opened = context.waitForEvent('page')
  await shown.getByRole('button', { name: 'Pay $25' }).click()
  const checkout = await opened
  await checkout.getByText('Choose how to pay').or(checkout.getByText('$25.00')).first().waitFor()
  expect(checkout.url()).toContain('/checkout/i/inv_')
  expect(await checkout.evaluate('window.opener')).toBeNull()
  expect(await shown.getByText('Thank you!').isVisible()).toBe(false)

  const id = /inv_\w+/.exec(checkout.url())?.[0] as string
  await pay(id)
  expect(await toldOf(shown, 'till-paid')).toEqual([{ invoice: id, status: 'paid' }])
  await shown.getByText('Thank you!').waitFor()
  expect(await shown.locator('till-button').getAttribute('status')).toBe('paid')
  expect(await shown.locator('till-button').evaluate((element) => (element as HTMLElement & { invoice: string }).invoice)).toBe(id)
  expect(await shown.getByRole('button').isDisabled()).toBe(true)
  expectCalm(shown)
  await close()
})

test('pressing twice, and loading the page anew, goes on with the same invoice', async () => {
  const { url, id: linkId } = await link()
  const { page: shown, context, close } = await page(`<till-button href="${url}">Pay</till-button>`)
  const press = async () => {
    const opened = context.waitForEvent('page')
    await shown.getByRole('button', { name: 'Pay' }).click()
    const checkout = await opened
    await checkout.waitForURL(/inv_/)
    return /inv_\w+/.exec(checkout.url())?.[0] as string
  }
  const id = await press()
  expect(await press()).toBe(id)
  await shown.reload()
  expect(await press()).toBe(id)
  await shown.reload()
  await pay(id)
  expect(await toldOf(shown, 'till-paid')).toEqual([{ invoice: id, status: 'paid' }])
  const { data } = await shop.call<{ data: { payment_link: string }[] }>('GET', '/v1/invoices?limit=100')
  expect(data.filter((one) => one.payment_link === linkId)).toHaveLength(1)
  await close()
})

test('an invoice that its shop made is opened and watched as it is', async () => {
  const made = await shop.invoice([BASE], '30.00')
  const { page: shown, context, close } = await page(`<till-button href="${made.checkout_url}">Pay</till-button>`)
  const opened = context.waitForEvent('page')
  await shown.getByRole('button', { name: 'Pay' }).click()
  await (await opened).waitForURL(new RegExp(made.id))
  await shop.pay(made.id, { amount: '10.00' })
  await shown.waitForSelector('till-button[status=partially_paid]')
  expect(await shown.getByRole('button').isDisabled()).toBe(false)
  await shop.pay(made.id, { amount: '20.00' })
  expect(await toldOf(shown, 'till-paid')).toEqual([{ invoice: made.id, status: 'paid' }])
  await close()
})

test('a payment that a reorganisation took back is not told as paid', async () => {
  const made = await shop.invoice([BASE], '30.00')
  await shop.pay(made.id)
  const { data } = await shop.call<{ data: { id: string }[] }>('GET', `/v1/payments?invoice=${made.id}`)
  await shop.call('POST', `/v1/test_helpers/payments/${data[0]?.id}/reverse`)
  const { page: shown, close } = await page(`<till-button href="${made.checkout_url}">Pay</till-button>`)
  await shown.getByRole('button', { name: 'Pay' }).click()
  await toldOf(shown, 'till-status')
  expect((await told(shown)).map(([name]) => name)).not.toContain('till-paid')
  await close()
})

test('who chose an amount pays that, and what is refused is told with its code', async () => {
  const { url } = await link({ amount_type: 'payer_chosen', amount: undefined, min_amount: '5.00' })
  const { page: shown, context, close } = await page(`<till-button href="${url}" amount="4.00">Give</till-button>`)
  await shown.getByRole('button', { name: 'Give' }).click()
  expect(await toldOf(shown, 'till-error')).toMatchObject([{ code: 'amount_too_small' }])
  await shown.locator('till-button').evaluate((element) => element.setAttribute('amount', '7.50'))
  const opened = context.waitForEvent('page')
  await shown.getByRole('button', { name: 'Give' }).click()
  const checkout = await opened
  await checkout.waitForURL(/inv_/)
  await checkout.getByText('$7.50').first().waitFor()
  await close()
})

test('only the address of a page is opened', async () => {
  for (const href of ['javascript:alert(1)//l/x?key=k', '', 'https://example.com/']) {
    const { page: shown, context, close } = await page(`<till-button href="${href}">Pay</till-button>`)
    await shown.getByRole('button', { name: 'Pay' }).click()
    expect(await toldOf(shown, 'till-error')).toMatchObject([{ code: 'parameter_invalid' }])
    await expect.poll(() => context.pages().length).toBe(1)
    await close()
  }
})

test('after an invoice is over the next press makes another', async () => {
  const { url } = await link()
  const { page: shown, context, close } = await page(`<till-button href="${url}">Pay</till-button>`)
  const press = async () => {
    const opened = context.waitForEvent('page')
    await shown.getByRole('button', { name: 'Pay' }).click()
    const checkout = await opened
    await checkout.waitForURL(/inv_/)
    return /inv_\w+/.exec(checkout.url())?.[0] as string
  }
  const first = await press()
  await shop.wait(24 * 60)
  await shown.waitForSelector('till-button[status=expired]')
  expect(await press()).not.toBe(first)
  await close()
})

test('where no window may be opened the page itself goes to the checkout, and knows the invoice when it is back', async () => {
  const { url } = await link()
  const { page: shown, context, close } = await page(`<till-button href="${url}">Pay</till-button>`)
  await context.addInitScript('window.open = () => null')
  await shown.reload()
  const start = shown.url()
  await shown.getByRole('button', { name: 'Pay' }).click()
  await shown.waitForURL(/inv_/)
  const id = /inv_\w+/.exec(shown.url())?.[0] as string
  await pay(id)
  await shown.goto(start)
  expect(await toldOf(shown, 'till-paid')).toEqual([{ invoice: id, status: 'paid' }])
  await close()
})
