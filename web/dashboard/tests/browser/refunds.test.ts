// A refund from the form to the books: made, claimed on the payer's page, paid from a wallet, recorded.

import { expect, test } from 'vitest'
import { startTill } from './server.ts'
import { arrive, expectCalm, heading, look, person } from './visit.ts'

const server = await startTill()
const PAYEE = '0xd35C790730359cCAB2A953238A391bc3ff664871'
/** On the sanctions list of test mode (docs/addresses.md). */
const LISTED = '0xaE0CF0b1a09f16Ff1eBab390fDb66F839Cc2F29B'
const HASH = `0x${'ab'.repeat(32)}`

async function overpaid(): Promise<string> {
  const { id } = await server.invoice('48.00')
  const asset = 'USDC@eip155:84532'
  await server.pay(id, { asset, amount: '51.00' })
  return id
}

async function claimOnPayersPage(url: string, address: string): Promise<void> {
  const payer = await person()
  await payer.page.goto(url)
  await payer.page.getByLabel('Your address on').fill(address)
  await payer.page.getByRole('button', { name: 'Continue' }).click()
  await payer.page.getByRole('checkbox').check()
  await payer.page.getByRole('button', { name: 'Send my refund here' }).click()
  await payer.page.getByRole('button', { name: 'Send my refund here' }).waitFor({ state: 'detached' })
  await payer.close()
}

test('refund created, claimed on the payer’s page, marked sent', { timeout: 120_000 }, async () => {
  const invoice = await overpaid()
  const owner = await person()
  await arrive(owner, server)
  const { page } = owner
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await heading(page, 'Refunds').waitFor()
  await page.getByText('No refunds').waitFor()
  await look(page, 'refunds-empty')

  // An invoice is named by its id; its own page links here with it.
  await page.getByRole('link', { name: 'New refund' }).click()
  await page.getByLabel('Invoice').fill('inv_nothing')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('This is not here').first().waitFor()
  await page.getByLabel('Invoice').fill(invoice)
  await page.getByRole('button', { name: 'Continue' }).click()

  // The excess is filled in; more than arrived is refused at the field, and what was typed stays.
  const amount = page.getByLabel('How much, in USDC')
  await expect.poll(() => amount.inputValue()).toMatch(/^3(\.0+)?$/)
  await look(page, 'refund-new')
  await amount.fill('52')
  await page.getByText('That is more than can be given back: at most 51.00 USDC.').waitFor()
  await page.getByRole('button', { name: 'Make the link for 52.00 USDC' }).click()
  await page.getByText('That is more than is left').first().waitFor()
  expect(await amount.inputValue()).toBe('52')
  await page.getByRole('button', { name: 'Paid too much: 3.00' }).click()
  await page.getByRole('button', { name: 'Make the link for 3.00 USDC' }).click()
  await heading(page, /3\.00 USDC/).waitFor()
  await page.getByText('Waiting for the payer').first().waitFor()
  await look(page, 'refund-unclaimed')

  const link = await page.locator('.copyfield code').first().textContent()
  await claimOnPayersPage(link ?? '', PAYEE)
  // The page looks again by itself.
  await page.getByRole('button', { name: 'Copy address' }).waitFor()
  expect(await page.locator('.addr').textContent()).toBe(PAYEE)
  await page.getByText('Base Sepolia').first().waitFor()
  await look(page, 'refund-ready')

  await page.getByLabel('Transaction').fill('not a hash')
  await page.getByRole('button', { name: 'Mark as sent' }).click()
  await page.locator('[name="tx_hash"][aria-invalid="true"]').waitFor()
  await page.getByLabel('Transaction').fill(HASH)
  await page.getByRole('button', { name: 'Mark as sent' }).click()
  await page.getByText('Recorded as sent').waitFor()
  await page.getByText('See it on the network’s explorer').waitFor()
  await look(page, 'refund-sent')
  const { data } = await server.call<{ data: { status: string; tx_hash: string }[] }>('GET', `/v1/refunds?invoice=${invoice}`)
  expect(data.map(({ status, tx_hash }) => [status, tx_hash])).toEqual([['sent', HASH]])
  await owner.close()
})

test('a listed address blocks the refund: no address is shown; one can cancel it', { timeout: 120_000 }, async () => {
  const refund = async (amount: string) => server.call<{ id: string; claim_url: string }>('POST', `/v1/invoices/${await overpaid()}/refunds`, { amount, reason: 'requested_by_payer' })
  const [held, waiting, ready] = [await refund('1.50'), await refund('2.00'), await refund('12.25')]
  await claimOnPayersPage(held.claim_url, LISTED)
  await claimOnPayersPage(ready.claim_url, PAYEE)
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', 'second@example.com', '--json')) as { link: string }
  const owner = await person()
  await arrive(owner, { ...server, link })
  const { page } = owner
  await page.goto(`${server.origin}/dashboard/test/refunds`)
  // Held comes first, then what waits for the wallet, then for the payer.
  await page.getByRole('heading', { level: 2, name: 'Held' }).waitFor()
  expect((await page.getByRole('heading', { level: 2 }).allTextContents()).slice(0, 3).map((text) => text.replace('Show all', ''))).toEqual(['Held', 'Ready to send', 'Waiting for the payer'])
  await look(page, 'refunds')
  await page.getByRole('navigation', { name: 'Refunds by status' }).getByRole('link', { name: 'Held' }).click()
  await page.getByRole('table').waitFor()
  await look(page, 'refunds-list')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByText('Do not pay this refund.').waitFor()
  await page.getByText('A sanctions list names the address').waitFor()
  expect(await page.content()).not.toContain(LISTED)
  await look(page, 'refund-held')

  // A link whose time is over says so, and leads to another refund.
  await page.route(`**/v1/refunds/${waiting.id}`, async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), expires_at: '2026-01-01T00:00:00Z' } })
  })
  await page.goto(`${server.origin}/dashboard/test/refunds/${waiting.id}`)
  await page.getByText('The payer did not use it in time.').waitFor()
  expect(await page.getByText('Link for the payer').count()).toBe(0)
  await look(page, 'refund-ended')
  await page.unroute(`**/v1/refunds/${waiting.id}`)

  await page.goto(`${server.origin}/dashboard/test/refunds/${waiting.id}`)
  await page.getByRole('button', { name: 'Cancel the refund' }).click()
  await page.getByText('The link stops working.').waitFor()
  await look(page, 'refund-cancel')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the refund' }).click()
  await page.getByText('Refund cancelled').waitFor()
  expectCalm(page)
  await owner.close()
})

test('a viewer sees the refunds, and neither buttons nor the payer’s link', async () => {
  const refund = await server.call<{ id: string }>('POST', `/v1/invoices/${await overpaid()}/refunds`, {})
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', 'viewer@example.com', '--role', 'viewer', '--json')) as { link: string }
  const viewer = await person()
  await arrive(viewer, { ...server, link })
  const { page } = viewer
  await page.goto(`${server.origin}/dashboard/test/refunds/${refund.id}`)
  await page.getByText('You send the payer a link').waitFor()
  expect(await page.getByText('Link for the payer').count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Cancel the refund' }).count()).toBe(0)
  await look(page, 'refund-viewer')
  await page.goto(`${server.origin}/dashboard/test/refunds/new`)
  await heading(page, 'Your role does not include this page').waitFor()
  expectCalm(page)
  await viewer.close()
})

test('a session that ends while the form is open: sign in again, and nothing typed is lost', async () => {
  const invoice = await overpaid()
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', 'fourth@example.com', '--json')) as { link: string }
  const owner = await person()
  await arrive(owner, { ...server, link })
  const { page, context } = owner
  await page.goto(`${server.origin}/dashboard/test/refunds/new?invoice=${invoice}`)
  await page.getByLabel('How much, in USDC').fill('7,25')
  await page.getByLabel('Why').selectOption('requested_by_payer')
  await context.clearCookies()
  await page.getByRole('button', { name: 'Make the link for 7.25 USDC' }).click()
  await page.getByText('Your session has ended.').waitFor()
  expect(await page.getByLabel('How much, in USDC').inputValue()).toBe('7,25')
  await page.getByRole('button', { name: 'Sign in with passkey' }).click()
  await heading(page, /7\.25 USDC/).waitFor()
  const { data } = await server.call<{ data: { amount: string; reason: string }[] }>('GET', `/v1/refunds?invoice=${invoice}`)
  expect(data.map(({ amount, reason }) => [Number(amount), reason])).toEqual([[7.25, 'requested_by_payer']])
  await owner.close()
})

test('answers changed on their way: no address that is none, and nothing that runs', async () => {
  const refund = await server.call<{ id: string; claim_token: string }>('POST', `/v1/invoices/${await overpaid()}/refunds`, {})
  await server.call('POST', `/v1/refund_claims/${refund.claim_token}`, { network: 'eip155:84532', address: PAYEE })
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', 'fifth@example.com', '--json')) as { link: string }
  const owner = await person()
  await arrive(owner, { ...server, link })
  const { page } = owner
  // One character is another: the checksum of the address says so.
  const forged = PAYEE.replace('d35C', 'd35c')
  await page.route(`**/v1/refunds/${refund.id}`, async (route) => {
    const answer = await route.fetch()
    const value = (await answer.json()) as { payout: { address: string }; reason: string }
    value.payout.address = forged
    value.reason = '<img src=x onerror=alert(1)>'
    await route.fulfill({ response: answer, json: value })
  })
  await page.goto(`${server.origin}/dashboard/test/refunds/${refund.id}`)
  await page.getByText('is no address of Base Sepolia').waitFor()
  expect(await page.content()).not.toContain(forged)
  expect(await page.getByRole('button', { name: 'Copy address' }).count()).toBe(0)
  expect(await page.locator('main img').count()).toBe(0)
  await look(page, 'refund-forged')
  await owner.close()
})

test('a list that is too old to say anything holds the refund: why, and what to do about it', async () => {
  const refund = await server.call<{ id: string; claim_token: string }>('POST', `/v1/invoices/${await overpaid()}/refunds`, {})
  await server.call('POST', `/v1/refund_claims/${refund.claim_token}`, { network: 'eip155:84532', address: PAYEE })
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', 'sixth@example.com', '--json')) as { link: string }
  const owner = await person()
  await arrive(owner, { ...server, link })
  const { page } = owner
  await page.route(`**/v1/refunds/${refund.id}`, async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ response: answer, json: { ...(await answer.json()), status: 'in_review', review_reason: 'screening_unavailable' } })
  })
  await page.goto(`${server.origin}/dashboard/test/refunds/${refund.id}`)
  await page.getByText('A list could not be asked about the address.').waitFor()
  await page.getByText('the refund goes on once it answers').waitFor()
  expect(await page.getByRole('button', { name: 'Copy address' }).count()).toBe(0)
  await look(page, 'refund-stale-list')
  await owner.close()
})
