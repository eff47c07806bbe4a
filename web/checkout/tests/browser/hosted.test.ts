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

test('a shop without a name of its own is called as its account is', async () => {
  await shop.call('POST', '/v1/merchant/settings', { display_name: null })
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(made.checkout_url)
  const name = (await page.locator('.who > span').textContent()) ?? ''
  expect(name).not.toMatch(/^(The shop)?$/)
  await page.getByText(`Checked: this address belongs to ${name}.`).waitFor()
  await shop.call('POST', '/v1/merchant/settings', { display_name: 'Northwind Books' })
  await close()
})

const BRAND = { return_url: 'https://shop.example/orders/{invoice}', support_url: 'mailto:help@shop.example', accent: '#0f5c6e' }

test('after paying there is a way back, help and the number, in the shop’s colour', async () => {
  await shop.call('POST', '/v1/merchant/settings', BRAND)
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(made.checkout_url)
  await page.locator('.addr').waitFor()
  expect(await page.evaluate(() => document.documentElement.style.getPropertyValue('--accent'))).toBe('#0f5c6e')
  // Nobody is led away before there is something to come back with.
  expect(await page.getByRole('link', { name: 'Return to Northwind Books' }).count()).toBe(0)
  await shop.pay(made.id)
  await heading(page, 'Paid').waitFor()
  expect(await page.getByRole('link', { name: 'Return to Northwind Books' }).getAttribute('href')).toBe(`https://shop.example/orders/${made.id}`)
  expect(await page.getByRole('link', { name: 'Help from Northwind Books' }).getAttribute('href')).toBe('mailto:help@shop.example')
  await page.locator('.facts').getByText(made.id).waitFor()
  await look(page, 'hosted-paid')
  await close()
})

test('what ended otherwise has the same', async () => {
  await shop.call('POST', '/v1/merchant/settings', BRAND)
  const [over, cancelled] = [await shop.invoice([BASE]), await shop.invoice([BASE])]
  await shop.call('POST', `/v1/invoices/${cancelled.id}/cancel`)
  await shop.wait(61)
  for (const [made, title, name] of [
    [over, 'Time is over', 'hosted-over'],
    [cancelled, 'Cancelled', 'hosted-cancelled'],
  ] as const) {
    const { page, close } = await visit(made.checkout_url)
    await heading(page, title).waitFor()
    expect(await page.getByRole('link', { name: 'Return to Northwind Books' }).getAttribute('href')).toBe(`https://shop.example/orders/${made.id}`)
    expect(await page.getByRole('link', { name: 'Contact Northwind Books' }).getAttribute('href')).toBe('mailto:help@shop.example')
    await page.locator('.facts').getByText(made.id).waitFor()
    await look(page, name)
    await close()
  }
  await shop.call('POST', '/v1/merchant/settings', { manual_review_amount: '40.00' })
  const held = await shop.invoice([BASE])
  await shop.pay(held.id)
  const { page, close } = await visit(held.checkout_url)
  await heading(page, 'Being checked').waitFor()
  await page.getByRole('link', { name: 'Contact Northwind Books' }).waitFor()
  await page.locator('.facts').getByText(held.id).waitFor()
  await look(page, 'hosted-review')
  await shop.call('POST', '/v1/merchant/settings', { manual_review_amount: null })
  await close()
})

test('a link that ended leads back, and a refund’s that ended still says whose it was', async () => {
  await shop.call('POST', '/v1/merchant/settings', { return_url: 'https://shop.example/' })
  const link = await shop.call<{ url: string }>('POST', '/v1/payment_links', { amount_type: 'fixed', amount: '25.00', currency: 'USD', active: false })
  const closed = await visit(link.url)
  await heading(closed.page, 'The shop has switched this link off').waitFor()
  expect(await closed.page.getByRole('link', { name: 'Return to Northwind Books' }).getAttribute('href')).toBe('https://shop.example/')
  await look(closed.page, 'hosted-link-off')
  await closed.close()

  const made = await shop.invoice([BASE])
  await shop.pay(made.id)
  const refund = await shop.call<{ id: string; claim_url: string }>('POST', `/v1/invoices/${made.id}/refunds`, { amount: '5.00' })
  await shop.wait(31 * 24 * 60)
  const { page, close } = await visit(refund.claim_url)
  await heading(page, 'This link has ended').waitFor()
  expect(await page.locator('.who > span').textContent()).toBe('Northwind Books')
  await look(page, 'hosted-refund-ended')
  await close()
  const none = await visit(refund.claim_url.replace(/[^/]+$/, 'nothing'))
  await heading(none.page, 'We cannot find this refund').waitFor()
  await none.close()
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
