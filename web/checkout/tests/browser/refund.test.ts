// Claiming a refund: where it goes, a second look, and what became of it.

import { expect, test } from 'vitest'
import { openShop } from './shop.ts'
import { heading, look, visit } from './visit.ts'

const shop = await openShop()
const TOKEN = 'rct_6ZqW8vYt2Kx41mNpRs7u'
const at = `${shop.pages}/r/${TOKEN}`
const PAYEE = '0xd35C790730359cCAB2A953238A391bc3ff664871'

/** A claim as the contract describes it. */
const claim = (more: Record<string, unknown> = {}) => ({
  object: 'refund_claim',
  status: 'unclaimed',
  amount: '3.00',
  asset: 'USDC@eip155:84532',
  symbol: 'USDC',
  merchant: { display_name: 'Northwind Books' },
  networks: [
    { network: 'eip155:84532', network_name: 'Base Sepolia' },
    { network: 'eip155:11155111', network_name: 'Ethereum Sepolia' },
    { network: 'tron:3448148188', network_name: 'TRON Nile' },
  ],
  expires_at: '2026-12-15T12:00:00Z',
  payout: null,
  ...more,
})
const refusal = (code: string) => ({ error: { type: 'invalid_request_error', code, message: code, param: null, doc_url: '', request_id: 'req_1' } })
const allow = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }

/** Opens the page beside a server that answers as it is told, and keeps what was posted. */
async function open(got: () => { status?: number; json: unknown }, posted: () => { status?: number; json: unknown } = got) {
  const opened = await visit('about:blank')
  const bodies: unknown[] = []
  await opened.context.route('**/v1/refund_claims/*', async (route) => {
    const request = route.request()
    if (request.method() === 'POST') bodies.push(request.postDataJSON())
    const { status = 200, json } = request.method() === 'POST' ? posted() : got()
    await route.fulfill({ status, json, headers: allow })
  })
  await opened.page.goto(at)
  return { ...opened, bodies }
}

test('a payer names network and address, looks twice, and it is recorded', async () => {
  const recorded = claim({ status: 'ready_to_send', payout: { address: PAYEE, network: 'eip155:11155111', screening: null } })
  const { page, bodies, close } = await open(
    () => ({ json: claim() }),
    () => ({ json: recorded }),
  )
  await heading(page, 'Where should your refund go?').waitFor()
  // The token is a credential: it is out of the address bar and of the history.
  expect(page.url()).not.toContain(TOKEN)
  await look(page, 'refund-claim')

  const address = page.getByLabel('Your address on')
  const go = page.getByRole('button', { name: 'Continue' })
  await go.click()
  await page.getByText('Type or paste your address first.').waitFor()
  for (const wrong of [PAYEE.slice(0, -1), `${PAYEE.slice(0, -1)}7`, PAYEE.replace('d35C', 'D35C'), 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf', `0x${'0'.repeat(40)}`]) {
    await address.fill(wrong)
    await go.click()
    await page.getByText('or it has a typing error').waitFor()
    expect(await address.getAttribute('aria-invalid')).toBe('true')
  }
  await look(page, 'refund-error')

  await page.getByRole('radio', { name: 'Ethereum Sepolia' }).check()
  await address.fill(` ${PAYEE} `)
  await go.click()
  await heading(page, 'Read it once more').waitFor()
  expect(await page.locator('.addr').textContent()).toBe(PAYEE)
  await page.getByRole('button', { name: 'Send my refund here' }).click()
  await page.getByText('Tick this once you have compared it.').waitFor()
  expect(bodies).toEqual([])
  await page.getByRole('button', { name: 'Change the address' }).click()
  expect(await address.inputValue()).toContain(PAYEE)
  await go.click()
  await page.getByRole('checkbox').check()
  await look(page, 'refund-second-look')
  await page.getByRole('button', { name: 'Send my refund here' }).click()
  await heading(page, 'Recorded').waitFor()
  expect(bodies).toEqual([{ network: 'eip155:11155111', address: PAYEE }])
  // Whoever else opens the link does not learn where the money goes.
  expect(await page.content()).not.toContain(PAYEE)
  await look(page, 'refund-recorded')
  await page.reload()
  await heading(page, 'Where should your refund go?').waitFor()
  await close()
})

test('a TRON address is taken on TRON alone', async () => {
  const { page, close } = await open(() => ({ json: claim() }))
  await page.getByRole('radio', { name: 'TRON Nile' }).check()
  await page.getByLabel('Your address on').fill('TJRabPrwbZy45sbavfcjinPJC18kjpRTv8')
  await page.getByRole('button', { name: 'Continue' }).click()
  await heading(page, 'Read it once more').waitFor()
  await close()
})

test('a claim that is being checked says so, and not by whom', async () => {
  const { page, close } = await open(() => ({ json: claim({ status: 'in_review', payout: { address: PAYEE, network: 'eip155:84532', screening: { result: 'match', lists: [{ list: 'sanctions', result: 'match' }] } } }) }))
  await heading(page, 'Being checked').waitFor()
  expect(await page.content()).not.toMatch(/sanction|list|match/i)
  await look(page, 'refund-review')
  await close()
})

test('a refund that was sent shows its transaction', async () => {
  const hash = `0x${'a4c1'.repeat(16)}`
  const { page, close } = await open(() => ({ json: claim({ status: 'sent', tx_hash: hash, payout: { address: PAYEE, network: 'eip155:84532' } }) }))
  await heading(page, 'Sent').waitFor()
  expect(await page.getByRole('link', { name: 'View transaction' }).getAttribute('href')).toBe(`https://sepolia.basescan.org/tx/${hash}`)
  await look(page, 'refund-sent')
  await close()
})

test('a refund that was taken back says so', async () => {
  const { page, close } = await open(() => ({ json: claim({ status: 'cancelled' }) }))
  await heading(page, 'The shop took the refund back').waitFor()
  await look(page, 'refund-cancelled')
  await close()
})

test.each([
  ['claim_expired', 409, 'This link has ended'],
  ['claim_cancelled', 409, 'The shop took the refund back'],
  ['claim_already_sent', 409, 'Recorded'],
  ['resource_missing', 404, 'We cannot find this refund'],
])('a link that answers %s says what that means', async (code, status, words) => {
  const { page, close } = await open(() => ({ status, json: refusal(code) }))
  await heading(page, words).waitFor()
  await look(page, `refund-${code}`)
  await close()
})

test('an address that the server refuses goes back to the field', async () => {
  const { page, close } = await open(
    () => ({ json: claim() }),
    () => ({ status: 400, json: refusal('address_invalid') }),
  )
  await page.getByLabel('Your address on').fill(PAYEE)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Send my refund here' }).click()
  await page.getByText('or it has a typing error').waitFor()
  await close()
})
