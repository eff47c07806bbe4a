// Payment links: their amounts, their bounds and all their states.

import { expect, test } from 'vitest'
import { BASE, openShop, TRON } from './shop.ts'
import { heading, look, visit } from './visit.ts'

const shop = await openShop()

interface Link {
  id: string
  slug: string
}
const link = (body: Record<string, unknown>) =>
  shop.call<Link>('POST', '/v1/payment_links', { currency: 'USD', description: 'A signed copy', assets: [BASE, TRON], ...body })
const at = (made: Link) => `${shop.pages}/l/${made.slug}`

test('a fixed link makes an invoice, and a network is given to it by picking', async () => {
  const made = await link({ amount_type: 'fixed', amount: '25.00' })
  const { page, close } = await visit(at(made))
  await heading(page, 'Pay Northwind Books').waitFor()
  await page.getByText('$25.00').first().waitFor()
  await page.getByText('You choose the currency and the network next.').waitFor()
  await look(page, 'link-fixed')
  await page.getByRole('button', { name: 'Pay $25.00', exact: true }).click()
  await heading(page, 'Choose how to pay').waitFor()
  expect(page.url()).toMatch(/\/i\/inv_/)
  await page.getByRole('radio', { name: 'USDT' }).check()
  await page.getByRole('button', { name: 'Pay 25.00 USDT on TRON Nile' }).click()
  const address = await page.locator('.addr').textContent()
  expect(address).toMatch(/^T/)
  // The address was leased for good: loading again finds the same.
  await page.reload()
  await page.locator('.addr').waitFor()
  expect(await page.locator('.addr').textContent()).toBe(address)
  await shop.pay(/inv_\w+/.exec(page.url())?.[0] ?? '', { asset: TRON })
  await heading(page, 'Paid').waitFor()
  await page.goBack()
  await heading(page, 'Pay Northwind Books').waitFor()
  await close()
})

test('a payer chooses an amount within its bounds', async () => {
  const made = await link({ amount_type: 'payer_chosen', min_amount: '5.00', max_amount: '500.00' })
  const { page, close } = await visit(at(made))
  const amount = page.getByLabel('Amount (USD)')
  await page.getByText('Between $5.00 and $500.00').waitFor()
  const tries = ['', 'ten', '4.99', '500.01', '25.001', '-5']
  for (const text of tries) {
    await amount.fill(text)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.locator('.err').waitFor()
    expect(await amount.getAttribute('aria-invalid'), text).toBe('true')
  }
  await look(page, 'link-amount-error')
  await amount.fill('25,50')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('$25.50').waitFor()
  await close()
})

test('thousands are written without separators, and every keyboard’s digits are read', async () => {
  const made = await link({ amount_type: 'payer_chosen' })
  const { page, close } = await visit(`${at(made)}?lang=de`)
  const amount = page.getByLabel('Betrag (USD)')
  for (const text of ['1.000,00', '1,000.00', '1 000', '1.000']) {
    await amount.fill(text)
    await page.getByRole('button', { name: 'Weiter' }).click()
    await page.getByText('zum Beispiel 25,00, ohne Tausendertrennzeichen').waitFor()
  }
  await amount.fill('١٢٣٤٫٥٠')
  await page.getByRole('button', { name: 'Weiter' }).click()
  await page.getByText('1.234,50').first().waitFor()
  await close()
})

test('a link without bounds takes any amount, and hints at none', async () => {
  const made = await link({ amount_type: 'payer_chosen' })
  const { page, close } = await visit(at(made))
  await page.getByLabel('Amount (USD)').fill('0')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Type an amount such as 25.00, without thousands separators.').waitFor()
  await page.getByLabel('Amount (USD)').fill('7')
  // Whoever mends it is not told of the mistake any more.
  expect(await page.locator('.err').count()).toBe(0)
  await look(page, 'link-amount')
  await close()
})

test('a link that is switched off says so', async () => {
  const made = await link({ amount_type: 'fixed', amount: '25.00', active: false })
  const { page, close } = await visit(at(made))
  await heading(page, 'The shop has switched this link off').waitFor()
  expect(await page.title()).toBe('The shop has switched this link off · Northwind Books')
  await look(page, 'link-off')
  await close()
})

test('a link that sold out, or whose last one is being paid for, says so', async () => {
  const made = await link({ amount_type: 'fixed', amount: '25.00', quantity_limit: 1 })
  const first = await visit(at(made))
  await first.page.getByRole('button', { name: 'Pay $25.00' }).click()
  await heading(first.page, 'Choose how to pay').waitFor()

  const second = await visit(at(made))
  await heading(second.page, 'All are being paid for right now').waitFor()
  await look(second.page, 'link-reserved')

  await first.page.getByRole('button', { name: /^Pay 25.00 USDC/ }).click()
  await first.page.locator('.addr').waitFor()
  await shop.pay(/inv_\w+/.exec(first.page.url())?.[0] ?? '')
  await heading(first.page, 'Paid').waitFor()
  await second.page.getByRole('button', { name: 'Try again' }).click()
  await heading(second.page, 'Sold out').waitFor()
  await look(second.page, 'link-sold-out')
  await first.close()
  await second.close()
})

test('a link with too many open payments asks for a few minutes', async () => {
  const made = await link({ amount_type: 'fixed', amount: '25.00' })
  const begin = () => shop.call('POST', `/v1/checkout/links/${made.slug}/invoices`, {})
  let refused: Error | null = null
  for (let open = 0; open <= 50 && !refused; open++) await begin().catch((error: Error) => (refused = error))
  expect(String(refused)).toContain('payment_link_busy')
  const { page, close } = await visit(at(made))
  await page.getByRole('button', { name: 'Pay $25.00' }).click()
  await heading(page, 'Not possible this minute').waitFor()
  await page.getByText('Try again in a few minutes.').waitFor()
  await look(page, 'link-busy')
  await page.getByRole('button', { name: 'Try again' }).click()
  await heading(page, 'Pay Northwind Books').waitFor()
  await close()
})

test('a link that was taken while its page was open is closed on the spot', async () => {
  const made = await link({ amount_type: 'fixed', amount: '25.00' })
  const { page, close } = await visit(at(made))
  await heading(page, 'Pay Northwind Books').waitFor()
  await shop.call('POST', `/v1/payment_links/${made.id}`, { active: false })
  await page.getByRole('button', { name: 'Pay $25.00' }).click()
  await heading(page, 'The shop has switched this link off').waitFor()
  await close()
})

test('a link that ended, and one that never was', async () => {
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  const made = await link({ amount_type: 'fixed', amount: '25.00', expires_at: soon })
  await shop.wait(61)
  const ended = await visit(at(made))
  await heading(ended.page, 'This link ended on').waitFor()
  await look(ended.page, 'link-ended')
  await ended.close()
  const none = await visit(`${shop.pages}/l/0000000000000000000000`)
  await heading(none.page, 'We cannot find this link').waitFor()
  await none.close()
})
