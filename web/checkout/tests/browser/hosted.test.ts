// The pages as the payment server itself serves them, and the demonstration's test money.

import { expect, test } from 'vitest'
import { ALL, BASE, openShop } from './shop.ts'
import { expectCalm, heading, look, visit } from './visit.ts'

const shop = await openShop()

test('an invoice’s own link opens its checkout, which says who serves it', async () => {
  const made = await shop.invoice(ALL)
  const { page, close } = await visit(made.checkout_url)
  await heading(page, 'Choose how to pay').waitFor()
  await page.getByText('This page comes from the payment server itself.').waitFor()
  await page.getByText('Northwind Books').first().waitFor()
  await page.getByRole('button', { name: 'Pay 48.00 USDC on Base Sepolia' }).click()
  expect(await page.locator('.addr').textContent()).toBe(made.payment_options.find((one) => one.asset === BASE)?.address)
  await look(page, 'hosted-pay')
  await close()
})

test('a shop without a name is called one', async () => {
  await shop.call('POST', '/v1/merchant/settings', { display_name: null })
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(made.checkout_url)
  await page.getByText('Checked: this address belongs to the shop.').waitFor()
  expect(await page.locator('.who > span').textContent()).toBe('The shop')
  await shop.call('POST', '/v1/merchant/settings', { display_name: 'Northwind Books' })
  await close()
})

test('one click pays with test money, and the page turns to paid', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(made.checkout_url)
  await page.getByRole('button', { name: 'The exact amount: 48.00 USDC' }).click()
  await heading(page, 'Paid').waitFor()
  expect(await page.getByText('Pay with test money').count()).toBe(0)
  expectCalm(page)
  await close()
})

test('the panel of the demonstration speaks the page’s language, and says what it pays in', async () => {
  const made = await shop.invoice(ALL)
  const { page, close } = await visit(`${made.checkout_url}&lang=de`)
  const panel = page.locator('.demo')
  await panel.getByRole('heading', { name: 'Mit Testgeld bezahlen' }).waitFor()
  await panel.getByText('USDC über Base Sepolia').waitFor()
  await page.getByRole('radio', { name: 'USDT' }).check()
  await page.getByRole('button', { name: /48,00 USDT|48\.00 USDT/ }).first().click()
  await panel.getByText('USDT über TRON Nile').waitFor()
  await panel.getByRole('button', { name: /^Der genaue Betrag: 48.00 USDT/ }).click()
  await heading(page, 'Bezahlt').waitFor()
  await close()
})

test('too little asks for the rest, and the rest pays it', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(made.checkout_url)
  await page.getByRole('button', { name: 'Too little: 24.00 USDC' }).click()
  await heading(page, 'Still to send, exactly').waitFor()
  await page.getByRole('button', { name: 'The exact amount: 24.00 USDC' }).click()
  await heading(page, 'Paid').waitFor()
  await close()
})

test('too much is said to be', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(made.checkout_url)
  await page.getByRole('button', { name: 'Too much: 72.00 USDC' }).click()
  await heading(page, 'Paid, 24.00 USDC too much').waitFor()
  await close()
})

test('test money goes step by step through finality', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(made.checkout_url)
  await page.getByRole('button', { name: 'Step by step' }).click()
  await heading(page, 'Payment seen').waitFor()
  await page.getByText('Not in a block yet').first().waitFor()
  await look(page, 'hosted-steps')
  await page.getByRole('button', { name: 'Next step: In a block' }).click()
  await heading(page, 'Confirming').waitFor()
  await page.getByRole('button', { name: 'Next step: Unlikely to be undone' }).click()
  await page.getByRole('button', { name: 'Next step: Final' }).click()
  await heading(page, 'Paid').waitFor()
  expectCalm(page)
  await close()
})

test('without JavaScript there is a status, and no address', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(made.checkout_url, { javaScriptEnabled: false })
  await page.waitForURL('**/pay/**')
  expect(await page.locator('h1').textContent()).toBe('Waiting for your payment')
  expect(await page.content()).not.toMatch(/0x[0-9a-f]{40}/i)
  expect(await page.locator('meta[http-equiv=refresh]').getAttribute('content')).toBe('30')
  await page.getByText('needs JavaScript').waitFor()
  await shop.pay(made.id)
  await page.reload()
  expect(await page.locator('h1').textContent()).toBe('Paid')
  await close()
})

test('a link without its key, or with somebody else’s, leads nowhere', async () => {
  const made = await shop.invoice([BASE])
  for (const query of ['', '?key=till_test_pk_0000000000000000000000000000000000']) {
    const { page, close } = await visit(`${shop.base_url}/checkout/i/${made.id}${query}`)
    await heading(page, 'We cannot find this payment').waitFor()
    await close()
  }
})
