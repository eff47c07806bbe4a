import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Host, host } from './host.ts'
import { ALL, apiUrl, BASE, BITCOIN, call, destinations, invoice, pay, publishableKey } from './shop.ts'
import { heading, look, visit } from './visit.ts'

let shop: Host

beforeAll(async () => {
  await call('POST', '/v1/merchant/settings', { display_name: 'Northwind Books' })
  const config = {
    v: 1,
    api: apiUrl,
    key: publishableKey,
    merchant: 'Northwind Books',
    support_url: 'https://example.com/help',
    return_url: 'https://example.com/',
    accent: '#0f5c6e',
    destinations: await destinations(),
  }
  shop = await host(new URL('../../dist/', import.meta.url), () => config)
})
afterAll(() => shop.close())

const at = (id: string) => `${shop.url}/i/${id}`

describe('paying', () => {
  test('a payer picks a currency and a network, and sees the amount, the address and its code', async () => {
    const made = await invoice(ALL)
    const { page, close } = await visit(at(made.id))
    await heading(page).filter({ hasText: 'Choose how to pay' }).waitFor()
    await look(page, 'pick')
    await page.getByRole('button', { name: 'Pay 48.00 USDC on Base Sepolia' }).click()
    await page.locator('.addr').waitFor()
    await look(page, 'pay')
    const option = made.payment_options.find((one) => one.asset === BASE)
    expect(await page.locator('.addr').textContent()).toBe(option?.address)
    await close()
  })

  test('the page turns to paid by itself', async () => {
    const made = await invoice([BASE])
    const { page, close } = await visit(at(made.id))
    await page.locator('.addr').waitFor()
    await pay(made.id, { finality_steps: ['included'] })
    await heading(page).filter({ hasText: 'Payment seen' }).waitFor()
    await look(page, 'detected')
    await close()
  })

  test('bitcoin', async () => {
    const made = await invoice([BITCOIN])
    const { page, close } = await visit(at(made.id))
    await page.locator('.addr').waitFor()
    await look(page, 'btc')
    await pay(made.id)
    await heading(page).filter({ hasText: 'Paid' }).waitFor()
    await look(page, 'paid')
    await close()
  })

  test('part', async () => {
    const made = await invoice(ALL)
    const { page, close } = await visit(at(made.id))
    await pay(made.id, { asset: BASE, amount: '40.50' })
    await page.locator('.got').waitFor()
    await look(page, 'partial')
    await close()
  })
})
