// Claiming a refund: where it goes, a second look, and what became of it.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { BASE, BITCOIN, openShop, TRON } from './shop.ts'
import { heading, look, visit } from './visit.ts'

const shop = await openShop()
const PAYEE = '0xd35C790730359cCAB2A953238A391bc3ff664871'
/** On the sanctions list of test mode (docs/addresses.md). */
const LISTED = '0xaE0CF0b1a09f16Ff1eBab390fDb66F839Cc2F29B'
const DAY_MINUTES = 24 * 60

interface Refund {
  id: string
  status: string
  claim_token: string
  payout: { network: string; address: string } | null
}

/** Three too many were paid, and are returned. */
async function refunded(asset = BASE): Promise<Refund> {
  const made = await shop.invoice([asset])
  await shop.pay(made.id, { amount: '51.00' })
  return shop.call('POST', `/v1/invoices/${made.id}/refunds`, {})
}
const found = (refund: Refund) => shop.call<Refund>('GET', `/v1/refunds/${refund.id}`)
const open = (refund: Refund) => visit(`${shop.pages}/r/${refund.claim_token}`)

const address = (page: Page) => page.getByLabel('Your address on')
const goOn = (page: Page) => page.getByRole('button', { name: 'Continue' }).click()

/** From the first field to the last button. */
async function claim(page: Page, payee: string): Promise<void> {
  await address(page).fill(payee)
  await goOn(page)
  await page.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Send my refund here' }).click()
}

test('a payer names network and address, looks twice, and it is recorded', async () => {
  const refund = await refunded()
  const { page, close } = await open(refund)
  await heading(page, 'Where should your refund go?').waitFor()
  // The token is a credential: it is out of the address bar and of the history.
  expect(page.url()).not.toContain(refund.claim_token)
  expect(await page.getByRole('radio', { name: 'Base Sepolia' }).isChecked()).toBe(true)
  await page.getByText('you paid on this one').waitFor()
  await look(page, 'refund-claim')

  await goOn(page)
  await page.getByText('Type or paste your address first.').waitFor()
  const wrongs = [PAYEE.slice(0, -1), `${PAYEE.slice(0, -1)}7`, PAYEE.replace('d35C', 'D35C'), 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf', `0x${'0'.repeat(40)}`, '0x000000000000000000000000000000000000dEaD']
  for (const wrong of wrongs) {
    await address(page).fill(wrong)
    await goOn(page)
    await page.getByText('or it has a typing error').waitFor()
    expect(await address(page).getAttribute('aria-invalid')).toBe('true')
  }
  await look(page, 'refund-error')

  await page.getByRole('radio', { name: 'Ethereum Sepolia' }).check()
  await address(page).fill(` ${PAYEE} `)
  await goOn(page)
  await heading(page, 'Read it once more').waitFor()
  expect(await page.locator('.addr').textContent()).toBe(PAYEE)
  await page.getByRole('button', { name: 'Send my refund here' }).click()
  await page.getByText('Tick this once you have compared it.').waitFor()
  expect((await found(refund)).status).toBe('unclaimed')
  await page.getByRole('button', { name: 'Change the address' }).click()
  expect(await address(page).inputValue()).toContain(PAYEE)
  await goOn(page)
  await page.getByRole('checkbox').check()
  await look(page, 'refund-second-look')
  await page.getByRole('button', { name: 'Send my refund here' }).click()
  await heading(page, 'Recorded').waitFor()
  expect(await found(refund)).toMatchObject({ status: 'ready_to_send', payout: { network: 'eip155:11155111', address: PAYEE } })
  // Whoever looks over the shoulder does not learn where the money goes.
  expect(await page.content()).not.toContain(PAYEE)
  await look(page, 'refund-recorded')

  // The tab keeps the token, and the page is what became of it.
  await page.reload()
  await heading(page, 'Recorded').waitFor()
  await page.clock.install()
  await page.reload()
  await heading(page, 'Recorded').waitFor()
  const hash = `0x${'a4c1'.repeat(16)}`
  await shop.call('POST', `/v1/refunds/${refund.id}/mark_sent`, { tx_hash: hash })
  await page.clock.runFor(31_000)
  await heading(page, 'Sent').waitFor()
  expect(await page.getByRole('link', { name: 'View transaction' }).getAttribute('href')).toBe(`https://sepolia.etherscan.io/tx/${hash}`)
  await look(page, 'refund-sent')
  await close()
})

test('a TRON address is taken on TRON alone', async () => {
  const refund = await refunded(TRON)
  const { page, close } = await open(refund)
  await address(page).fill(PAYEE)
  await goOn(page)
  await page.getByText('or it has a typing error').waitFor()
  await claim(page, 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8')
  await heading(page, 'Recorded').waitFor()
  await close()
})

test('the field for an address shows how those of its network begin', async () => {
  for (const [asset, begins] of [
    [BASE, '0x…'],
    [TRON, 'T…'],
    [BITCOIN, 'tb1…'],
  ] as const) {
    const { page, close } = await open(await refunded(asset))
    expect(await address(page).getAttribute('placeholder')).toBe(begins)
    await close()
  }
})

test('a claim that is being checked says so, and not by whom', async () => {
  const refund = await refunded()
  const { page, close } = await open(refund)
  await claim(page, LISTED)
  await heading(page, 'Being checked').waitFor()
  expect((await found(refund)).status).toBe('in_review')
  expect(await page.content()).not.toMatch(/sanction|match|blacklist/i)
  await look(page, 'refund-review')
  await close()
})

test('whoever comes second cannot replace the address, and sees that there is one', async () => {
  const refund = await refunded()
  const [first, second] = [await open(refund), await open(refund)]
  await address(second.page).waitFor()
  await claim(first.page, PAYEE)
  await heading(first.page, 'Recorded').waitFor()
  await claim(second.page, LISTED)
  await heading(second.page, 'Recorded').waitFor()
  await second.page.getByText('An address is already recorded and cannot be replaced.').waitFor()
  await look(second.page, 'refund-too-late')
  expect((await found(refund)).payout?.address).toBe(PAYEE)
  await first.close()
  await second.close()
})

test('an address that only the server knows to be wrong goes back to the field', async () => {
  const refund = await refunded()
  const { page, close } = await open(refund)
  // A token's contract: well written, and nobody could spend from it.
  await claim(page, '0x036CbD53842c5426634e7929541eC2318f3dCF7e')
  await page.getByText('Your refund cannot go to this address').waitFor()
  expect((await found(refund)).status).toBe('unclaimed')
  await close()
})

test('a refund that was taken back says so, also to a page that is open', async () => {
  const refund = await refunded()
  const { page, close } = await open(refund)
  await address(page).waitFor()
  await shop.call('POST', `/v1/refunds/${refund.id}/cancel`)
  await claim(page, PAYEE)
  await heading(page, 'The shop took the refund back').waitFor()
  await page.getByText('Test payment. Do not send real money.').waitFor()
  await page.locator('.who').getByText('Northwind Books').waitFor()
  await look(page, 'refund-cancelled')
  await close()
})

test('a link that was never used ends after thirty days', async () => {
  const refund = await refunded()
  await shop.wait(30 * DAY_MINUTES + 1)
  const { page, close } = await open(refund)
  await heading(page, 'This link has ended').waitFor()
  await look(page, 'refund-ended')
  await close()
})

test('a link that opens nothing says so', async () => {
  const { page, close } = await visit(`${shop.pages}/r/nothing`)
  await heading(page, 'We cannot find this refund').waitFor()
  await look(page, 'refund-missing')
  await close()
})

test('a bookmark of the page, which has no token, says which link is meant', async () => {
  const refund = await refunded()
  const first = await open(refund)
  await address(first.page).waitFor()
  expect(await first.page.title()).toBe('Where should your refund go? · Northwind Books')
  const bookmark = first.page.url()
  await first.close()
  const { page, close } = await visit(bookmark)
  await heading(page, 'We cannot find this refund').waitFor()
  await page.getByText('Open the link that you were given once more.').waitFor()
  await look(page, 'refund-bookmark')
  await close()
})
