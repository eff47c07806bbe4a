// The library as it is, in a page of another origin, with the publishable key.

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium } from 'playwright-core'
import type { Till } from 'till-sdk'
import { expect, test } from 'vitest'
import { order, publishableKey, secretKey, till, url } from './shop.ts'

declare global {
  interface Window {
    Till: typeof Till
  }
}

const CHROMIUM = process.env.CHECKOUT_CHROMIUM ?? '/usr/bin/chromium'
const PAGE = `<!doctype html><title>Shop</title><script type="module">import { Till } from './index.js'; window.Till = Till</script>`
const DIST = new URL('../dist/', import.meta.url)

test('a page follows an invoice with the publishable key, and no page takes a secret one', async () => {
  const server = createServer(async (request, response) => {
    if (request.url === '/') return response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE)
    const script = await readFile(new URL(`.${request.url}`, DIST)).catch(() => null)
    return response.writeHead(script ? 200 : 404, { 'content-type': 'text/javascript' }).end(script)
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const browser = await chromium.launch({ executablePath: CHROMIUM })
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  await page.waitForFunction('window.Till')
  const invoice = await order()

  const watched = page.evaluate(
    async ([address, key, id]) => {
      const till = new window.Till({ url: address, key })
      const seen: string[] = [(await till.checkout.retrieveInvoice(id)).status]
      for await (const event of till.invoices.events(id)) {
        seen.push(event.type)
        if (event.invoice.status === 'paid') break
      }
      return seen
    },
    [url, publishableKey, invoice.id] as const,
  )
  await till.testHelpers.simulatePayment(invoice.id)
  expect(await watched).toEqual(expect.arrayContaining(['invoice.created', 'invoice.detected', 'invoice.paid']))

  const refused = page.evaluate(
    async ([address, key]) => {
      new window.Till({ url: address, key })
    },
    [url, secretKey] as const,
  )
  await expect(refused).rejects.toThrow('must not have a secret key')
  await browser.close()
  server.close()
})
