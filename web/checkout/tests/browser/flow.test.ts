// An invoice from its link to its receipt, on the merchant's own host.

import { expect, test } from 'vitest'
import { ALL, BASE, BITCOIN, openShop, SEPOLIA, TRON } from './shop.ts'
import { heading, look, shotPath, visit } from './visit.ts'

const shop = await openShop()
const at = (id: string, query = '') => `${shop.pages}/i/${id}${query}`

test('a payer picks a currency and a network, and gets the amount, the address and its code', async () => {
  const made = await shop.invoice(ALL)
  const { page, close } = await visit(at(made.id))
  await heading(page, 'Choose how to pay').waitFor()
  // Networks of one address stand together, and only once.
  expect(await page.locator('.share .opt').allTextContents()).toEqual(['Base Sepolia', 'Ethereum Sepolia', 'Arbitrum Sepolia'])
  await look(page, 'pick')

  await page.getByRole('radio', { name: 'Ethereum Sepolia' }).check()
  await page.getByRole('button', { name: 'Pay 48.00 USDC on Ethereum Sepolia' }).click()
  const option = made.payment_options.find((one) => one.asset === SEPOLIA)
  expect(await page.locator('.addr').textContent()).toBe(option?.address)
  // The one who chose by keyboard hears where they are.
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
  await look(page, 'pay')

  await page.getByRole('button', { name: 'Copy address' }).click()
  await page.getByText('Copied').first().waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(option?.address)
  await page.getByRole('button', { name: 'Copy amount', exact: true }).click()
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('48.00')

  // For those who want it: the contract, and a link that fills in a wallet's form.
  await page.getByText('Details').click()
  await page.getByText('0x036CbD53842c5426634e7929541eC2318f3dCF7e').waitFor({ state: 'detached' })
  await page.getByText('0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238').waitFor()
  expect(await page.getByRole('link', { name: 'Open in wallet' }).getAttribute('href')).toBe(
    `ethereum:0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238@11155111/transfer?address=${option?.address}&uint256=48000000`,
  )
  await look(page, 'pay-details')

  // What was chosen survives a reload, and can be changed.
  await page.reload()
  await page.locator('.addr').waitFor()
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await page.getByRole('radio', { name: 'USDT' }).check()
  await page.getByRole('button', { name: 'Pay 48.00 USDT on TRON Nile' }).click()
  expect(await page.locator('.addr').textContent()).toBe(made.payment_options.find((one) => one.asset === TRON)?.address)
  await close()
})

test('everything can be done with the keyboard alone', async () => {
  const made = await shop.invoice([BASE, TRON])
  const { page, close } = await visit(at(made.id))
  await heading(page, 'Choose how to pay').waitFor()
  const press = async (key: string, times = 1) => {
    for (let time = 0; time < times; time++) await page.keyboard.press(key)
  }
  await page.getByRole('radio', { name: 'USDC' }).focus()
  await press('ArrowRight')
  await press('Tab', 2)
  await press('Enter')
  await heading(page, '48.00 USDT').waitFor()
  const reached: string[] = []
  for (let step = 0; step < 8; step++) {
    await press('Tab')
    reached.push(await page.evaluate(() => document.activeElement?.textContent?.trim() ?? ''))
  }
  for (const name of ['Copy', 'Change', 'Wallet app', 'Exchange', 'Browser wallet', 'Copy address']) expect(reached).toContain(name)
  await close()
})

test('a payment walks through its levels while the page is open, and ends as a receipt', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  await shop.pay(made.id, { finality_steps: ['pending'] })
  await heading(page, 'Payment seen').waitFor()
  expect(await page.locator('.addr').count()).toBe(0)
  expect(await page.getByRole('status').allTextContents()).toContainEqual(expect.stringContaining('Payment seen'))
  await page.getByText(/Not in a block yet · \d+:\d\d/).waitFor()
  await look(page, 'detected')
  await close()
})

test('too little on its way is said to be, and nobody is sent away', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  await shop.pay(made.id, { amount: '40.50', finality_steps: ['pending'] })
  await page.getByText('40.50 of 48.00 USDC were seen.').first().waitFor()
  await page.getByText('40.50 USDC was seen on Base Sepolia. Seen at').first().waitFor()
  expect(await page.locator('main').textContent()).not.toMatch(/nothing more to do|close this page/)
  await look(page, 'detected-short')
  await shop.pay(made.id, { amount: '40.50', finality_steps: ['included', 'final'] })
  await close()
})

test('the whole on its way in two parts leaves nothing to do', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  for (const amount of ['40.50', '7.50']) await shop.pay(made.id, { amount, finality_steps: ['included'] })
  await page.getByText('You have nothing more to do.').first().waitFor()
  await close()
})

test('a single way to pay is named by the tab as by the page', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  await expect.poll(() => page.title()).toBe('Pay 48.00 USDC on Base Sepolia · Northwind Books')
  await close()
})

test('the tab follows what is chosen', async () => {
  const made = await shop.invoice([BASE, TRON])
  const { page, close } = await visit(at(made.id))
  await heading(page, 'Choose how to pay').waitFor()
  await expect.poll(() => page.title()).toBe('Choose how to pay · Northwind Books')
  await page.getByRole('button', { name: 'Pay 48.00 USDC on Base Sepolia' }).click()
  await page.locator('.addr').waitFor()
  await expect.poll(() => page.title()).toBe('Pay 48.00 USDC on Base Sepolia · Northwind Books')
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await expect.poll(() => page.title()).toBe('Choose how to pay · Northwind Books')
  await close()
})

/** The invoice with some of its fields changed, as the API could say it. */
async function changed(id: string, change: Record<string, unknown>) {
  const opened = await visit('about:blank')
  await opened.context.route('**/v1/checkout/invoices/*', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...((await response.json()) as object), ...change } })
  })
  await opened.context.route('**/events*', (route) => route.abort())
  await opened.page.goto(at(id))
  return opened
}

test('a payment that is on its way and not listed is still said to be', async () => {
  const made = await shop.invoice([BASE])
  for (const [status, title] of [
    ['detected', 'Payment seen'],
    ['confirming', 'Confirming'],
  ] as const) {
    const { page, close } = await changed(made.id, { status, payments: [] })
    await heading(page, title).waitFor()
    await page.getByText('Do not send it again.').waitFor()
    await close()
  }
})

test('an invoice that waits and is closed is over', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await changed(made.id, { closed_at: '2026-01-01T00:00:00Z', payment_options: [] })
  await heading(page, 'Time is over').waitFor()
  expect(await page.locator('.addr, .tile').count()).toBe(0)
  await look(page, 'closed')
  await close()
})

test('a fault of the page leaves a card with words', async () => {
  const made = await shop.invoice([BASE])
  const { page, context, close } = await visit('about:blank')
  await context.addInitScript(() => {
    const get = () => {
      throw new Error('a fault')
    }
    Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', { get })
  })
  await page.goto(at(made.id))
  await heading(page, 'Do not send anything now').waitFor()
  expect(await page.locator('.addr, .tile').count()).toBe(0)
  await close()
})

test('amounts that nobody could send are not asked for', async () => {
  const made = await shop.invoice([BASE])
  for (const amount_due of ['0', '0.000000', '48.0000001']) {
    const { page, close } = await changed(made.id, { payment_options: made.payment_options.map((option) => ({ ...option, symbol: 'USDC', network: 'eip155:84532', network_name: '', amount_due })) })
    await heading(page, 'This page did not load').waitFor()
    await close()
  }
})

test('a page that was not set up does not say that the payment is missing', async () => {
  const made = await shop.invoice([BASE])
  const { page, context, close } = await visit('about:blank')
  await context.route('**/config.json*', (route) => route.fulfill({ status: 404, body: 'no such file' }))
  await page.goto(at(made.id))
  await heading(page, 'This page did not load').waitFor()
  await close()
})

test('what is pressed is as high as a finger, and an amount in Bitcoin keeps its button beside it', async () => {
  const made = await shop.invoice([BITCOIN])
  const { page, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  const height = (name: string) => page.getByRole('button', { name, exact: true }).boundingBox()
  expect((await height('Already sent, but nothing happens?'))?.height).toBeGreaterThanOrEqual(44)
  const [amount, copy] = [await page.locator('.money').boundingBox(), await height('Copy amount')]
  expect((copy?.y ?? 0) + (copy?.height ?? 0)).toBeLessThanOrEqual((amount?.y ?? 0) + (amount?.height ?? 0) + 12)
  await close()
})

test('a payment that is settling says so', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  await shop.pay(made.id, { finality_steps: ['pending', 'included', 'safe'] })
  await heading(page, 'Confirming').waitFor()
  expect(await page.locator('.track [aria-current=step] b').textContent()).toBe('Settling')
  await look(page, 'confirming')
  await close()
})

test('a payment that goes away again is said to, before anybody sends twice', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  await shop.pay(made.id, { finality_steps: ['included'] })
  await heading(page, 'Payment seen').waitFor()
  const list = await shop.call<{ data: { id: string }[] }>('GET', `/v1/payments?invoice=${made.id}`)
  await shop.call('POST', `/v1/test_helpers/payments/${list.data[0]?.id}/reverse`)
  await page.getByText('Look in your wallet before you send anything.').waitFor()
  expect(await page.locator('.addr').textContent()).toBe(made.payment_options[0]?.address)
  await look(page, 'gone-again')
  await close()
})

test('a receipt says what was paid, prints alone, and leads back to the shop', async () => {
  const made = await shop.invoice([BITCOIN])
  const { page, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  await look(page, 'bitcoin')
  const link = await page.getByRole('link', { name: 'Open in wallet' }).getAttribute('href')
  expect(link).toBe(`bitcoin:${made.payment_options[0]?.address}?amount=${made.payment_options[0]?.amount_due}`)

  await shop.pay(made.id)
  await heading(page, 'Paid').waitFor()
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Paid')
  expect(await page.getByRole('link', { name: 'Return to Northwind Books' }).getAttribute('href')).toBe('https://example.com/')
  await expect.poll(() => page.title()).toBe('Paid · Northwind Books')
  await look(page, 'paid')
  await page.emulateMedia({ media: 'print' })
  await page.screenshot({ path: shotPath('paid-print'), fullPage: true })
  expect(await page.getByRole('link', { name: 'Return to Northwind Books' }).isVisible()).toBe(false)
  expect(await page.locator('.facts .full').first().isVisible()).toBe(true)
  await close()
})

test('a part payment asks for the rest, at the same address, until it is there', async () => {
  const made = await shop.invoice([BASE, TRON])
  const { page, close } = await visit(at(made.id))
  await heading(page, 'Choose how to pay').waitFor()
  await shop.pay(made.id, { asset: BASE, amount: '40.50' })
  await heading(page, '7.50 USDC').waitFor()
  expect(await page.locator('.addr').textContent()).toBe(made.payment_options[0]?.address)
  expect(await page.getByRole('alert').allTextContents()).toContain('Still to send, exactly 7.50 USDC')
  await look(page, 'partial')
  await shop.pay(made.id, { asset: BASE, amount: '7.50', finality_steps: ['included'] })
  // The page asks by itself every few seconds; a page that comes back to the front asks at once.
  await page.evaluate(() => dispatchEvent(new Event('online')))
  await page.getByText('The rest was seen and is being confirmed').waitFor()
  expect(await page.locator('.addr').count()).toBe(0)
  await look(page, 'partial-coming')
  await close()
})

test('too much is said, and what happens with it', async () => {
  const made = await shop.invoice([BASE])
  await shop.pay(made.id, { amount: '51.00' })
  const { page, close } = await visit(at(made.id))
  await heading(page, 'Paid, 3.00 USDC too much').waitFor()
  await look(page, 'overpaid')
  await close()
})

test('a cancelled payment shows no address and offers to look for money already sent', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  await shop.call('POST', `/v1/invoices/${made.id}/cancel`)
  await heading(page, 'Cancelled').waitFor()
  expect(await page.locator('.addr, .tile').count()).toBe(0)
  await page.getByLabel('Already sent? Check your transaction').fill('0x12')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('This is not a transaction ID').waitFor()
  await page.getByLabel('Already sent? Check your transaction').fill(`0x${'ab'.repeat(32)}`)
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('Not found yet').waitFor()
  await look(page, 'cancelled')
  await close()
})

test('a payment that is held is being checked, and nobody says why', async () => {
  await shop.call('POST', '/v1/merchant/settings', { manual_review_amount: '1000' })
  const made = await shop.invoice([BASE], '1000.00')
  await shop.pay(made.id)
  const { page, close } = await visit(at(made.id))
  await heading(page, 'Being checked').waitFor()
  expect(await page.content()).not.toMatch(/manual|sanction|blacklist/i)
  await look(page, 'review')
  await close()
})

test('a transaction that is this payment’s is found', async () => {
  const made = await shop.invoice([BASE])
  await shop.pay(made.id, { amount: '40.00' })
  const list = await shop.call<{ data: { tx_hash: string }[] }>('GET', `/v1/payments?invoice=${made.id}`)
  const { page, close } = await visit(at(made.id))
  await page.getByRole('button', { name: 'Already sent, but nothing happens?' }).click()
  await page.getByLabel('Already sent? Check your transaction').fill(list.data[0]?.tx_hash ?? '')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('Found, it is yours').waitFor()
  await look(page, 'lookup')
  await close()
})

test('a field for a transaction shows how one begins, where it begins with anything', async () => {
  for (const [asset, begins] of [
    [BASE, '0x…'],
    [TRON, ''],
  ] as const) {
    const made = await shop.invoice([asset])
    const { page, close } = await visit(at(made.id))
    await page.getByRole('button', { name: 'Already sent, but nothing happens?' }).click()
    expect(await page.getByLabel('Already sent? Check your transaction').getAttribute('placeholder')).toBe(begins)
    await close()
  }
})

test('whoever pays from an exchange is told what to look for there', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(at(made.id))
  await page.getByRole('button', { name: 'Exchange' }).click()
  await page.getByLabel('Your exchange').selectOption({ index: 1 })
  await page.getByText('Nothing is verified about this exchange').waitFor()
  expect(await page.getByRole('link', { name: 'source' }).count()).toBe(0)
  await look(page, 'exchange-unverified')
  await close()
})

test('a verified fee is added to what is to be typed', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(at(made.id))
  // No entry for a test network is verified, so one is.
  await page.route('**/v1/checkout/exchanges*', async (route) => {
    const known = { network: 'eip155:84532', label: 'Base Mainnet', withdrawal_fee: '0.10', source_url: 'https://exchange.example/fees', verified_at: '2026-10-02T00:00:00Z' }
    const data = [
      { exchange: 'example', name: 'Example Exchange', networks: [known] },
      { exchange: 'half', name: 'Half-Known Exchange', networks: [{ ...known, withdrawal_fee: null }] },
      { exchange: 'unknown', name: 'Unknown Exchange', networks: [{ ...known, label: null, withdrawal_fee: null, verified_at: null }] },
    ]
    await route.fulfill({ json: { object: 'list', data, next_cursor: null } })
  })
  await page.getByRole('button', { name: 'Exchange' }).click()
  await page.getByLabel('Your exchange').selectOption('example')
  await page.getByText('48.10 USDC').waitFor()
  expect(await heading(page).textContent()).toContain('The shop must receive')
  await look(page, 'exchange')

  // Nothing is said to be verified that is not, and the exchange's own page is a click away.
  await page.getByLabel('Your exchange').selectOption('half')
  await page.getByText('Its fee is not verified.').waitFor()
  expect(await page.locator('.facts').textContent()).toContain('Base Mainnet')
  await page.getByLabel('Your exchange').selectOption('unknown')
  await page.getByText('Nothing is verified about this exchange').waitFor()
  expect(await page.getByRole('link', { name: 'source' }).getAttribute('href')).toBe('https://exchange.example/fees')
  await close()
})

test('a link that leads nowhere says so', async () => {
  for (const [path, words] of [
    ['/i/inv_00000000000000000000000000', 'We cannot find this payment'],
    ['/i/', 'We cannot find this payment'],
  ] as const) {
    const { page, close } = await visit(shop.pages + path)
    await heading(page, words).waitFor()
    await look(page, 'missing')
    await close()
  }
})
