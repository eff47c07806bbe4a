// Payments, deposits that belong to no invoice, and decisions about held payments.

import { expect, test } from 'vitest'
import { startTill } from './server.ts'
import { arrive, heading, look, type Person, person } from './visit.ts'

const server = await startTill()
const live = await startTill('', 'live_mode = true')
const test_ = (path: string) => `${server.origin}/dashboard/test${path}`

let owner: Person
async function signedIn(): Promise<Person> {
  if (owner) return owner
  owner = await person()
  await arrive(owner, server)
  return owner
}

async function held(amount: string): Promise<string> {
  await server.call('POST', '/v1/merchant/settings', { manual_review_amount: '1000.00' })
  const { id } = await server.invoice(amount, 'School order 77')
  await server.pay(id)
  return id
}

test('payments: none yet, then those of invoices, found by status and transaction', async () => {
  const { page } = await signedIn()
  await page.goto(test_('/payments'))
  await page.getByText('No payments yet').waitFor()
  const { id } = await server.invoice('48.00')
  await server.pay(id)
  const other = await server.invoice('129.00')
  await server.pay(other.id)
  const { data } = await server.call<{ data: { id: string; tx_hash: string }[] }>('GET', `/v1/payments?invoice=${id}`)
  await server.call('POST', `/v1/test_helpers/payments/${data[0]?.id}/reverse`)
  await page.reload()
  await page.getByRole('row', { name: /48\.00 USDC/ }).getByText('Taken back').waitFor()
  await look(page, 'payments')
  await page.getByLabel('Status').selectOption('credited')
  await expect.poll(() => page.getByRole('row').count()).toBe(2)
  await page.goto(test_(`/payments?tx_hash=${data[0]?.tx_hash}`))
  await page.getByRole('link', { name: /48\.00/ }).click()
  await heading(page, /48\.00 USD/).waitFor()
  await page.getByText('The network took a payment back').waitFor()
})

test('deposits without an invoice: empty says that all is well', async () => {
  const { page } = await signedIn()
  await page.goto(test_('/payments/unattributed'))
  await page.getByText('Every deposit belongs to an invoice').waitFor()
  await look(page, 'deposits-none')
})

test('a deposit is put aside with a note, which has to be there', async () => {
  const { page } = await signedIn()
  const deposit = {
    id: 'udp_1',
    object: 'unattributed_deposit',
    livemode: false,
    status: 'open',
    reason: 'no_lease',
    asset: 'USDC@eip155:84532',
    symbol: 'USDC',
    network: 'eip155:84532',
    amount: '12.50',
    tx_hash: `0x${'ab'.repeat(32)}`,
    index: 0,
    from: '0x255C8a4b2d4a7B6B8C9D0E1F2a3B4c5D6e7F62dD',
    to: '0x0000000000000000000000000000000000000001',
    block_time: '2026-11-17T12:00:00.000Z',
    first_seen_at: '2026-11-17T12:00:02.000Z',
    note: null as string | null,
  }
  // Test mode simulates no transfer that is nobody's, so the answers are written here.
  await page.route('**/v1/dashboard/unattributed_deposits**', async (route) => {
    if (route.request().method() === 'GET') return route.fulfill({ json: { object: 'list', data: [deposit], next_cursor: null } })
    const { note } = route.request().postDataJSON() as { note: string }
    if (note === '') return route.fulfill({ status: 400, json: { error: { code: 'parameter_invalid', message: 'A note has 1 to 500 characters.', param: 'note' } } })
    Object.assign(deposit, { status: 'dismissed', note })
    return route.fulfill({ json: deposit })
  })
  await page.goto(test_('/payments/unattributed'))
  await page.getByText('The address was nobody’s at that time').waitFor()
  await look(page, 'deposits')
  await page.getByRole('button', { name: 'Put aside' }).click()
  await page.getByText('No invoice is paid by it').waitFor()
  await look(page, 'deposit-dismiss')
  await page.getByLabel('Note').fill('Change from our own wallet')
  await page.getByRole('dialog').getByRole('button', { name: 'Put aside' }).click()
  await page.getByText('Change from our own wallet').waitFor()
  // An address that did not follow from a destination is nowhere to be seen.
  expect(await page.content()).not.toContain(deposit.to)
  await page.unroute('**/v1/dashboard/unattributed_deposits**')
})

test('a held payment is accepted with a reason, another rejected', async () => {
  const { page } = await signedIn()
  const first = await held('1150.00')
  // Home says so, the menu counts it, and the field finds the customer's invoices.
  await page.goto(test_(''))
  await page.getByText('1 payment waits for your decision').waitFor()
  await page.getByRole('link', { name: 'Reviews 1 need you' }).first().waitFor()
  await look(page, 'home-needs')
  await page.keyboard.press('/')
  await page.keyboard.type('reader-2041')
  await page.keyboard.press('Enter')
  await page.waitForURL(/customer_ref=reader-2041/)
  await page.goto(test_('/reviews'))
  await page.getByRole('row', { name: /1,150\.00/ }).waitFor()
  await look(page, 'reviews')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByText('The amount needs a person').waitFor()
  await look(page, 'review')
  await page.getByRole('radio', { name: /^Accept/ }).check()
  await page.getByLabel('Reason').fill('Known school')
  await page.getByRole('button', { name: 'Accept the payment of 1,150.00 USD' }).click()
  await heading(page, /Paid/).waitFor()
  expect(page.url()).toContain(first)

  const second = await held('2000.00')
  await page.goto(test_(`/reviews/${second}`))
  await page.getByLabel('Reason').fill('Nobody ordered this')
  await page.getByRole('button', { name: 'Reject the payment' }).click()
  await heading(page, /Cancelled/).waitFor()
  await page.getByText('Money arrived that pays for nothing.').waitFor()
  await page.goto(test_('/reviews'))
  await page.getByText('Nothing waits for a decision').waitFor()
})

test('support may reject and not accept; a viewer decides nothing', async () => {
  const id = await held('3000.00')
  for (const role of ['support', 'viewer']) {
    const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', `${role}@example.com`, '--role', role, '--json')) as { link: string }
    const somebody = await person()
    await arrive(somebody, { ...server, link })
    await somebody.page.goto(test_(`/reviews/${id}`))
    await somebody.page.getByText('The amount needs a person').waitFor()
    if (role === 'support') expect(await somebody.page.getByRole('radio', { name: /^Accept/ }).isDisabled()).toBe(true)
    else await somebody.page.getByText('Your role does not decide on held payments').waitFor()
    await somebody.close()
  }
})

test('a network that stands still is named, with what it means and who can help', async () => {
  const { page } = await signedIn()
  await page.route('**/v1/dashboard/home**', async (route) => {
    const home = (await (await route.fetch()).json()) as { networks: Record<string, unknown>[]; needs_you: unknown[] }
    Object.assign(home.networks[0] as object, { status: 'halted', lag_seconds: 900 })
    Object.assign(home.networks[1] as object, { status: 'behind', lag_seconds: 240 })
    Object.assign(home.networks[2] as object, { status: 'ok', lag_seconds: 2 })
    home.needs_you.push({ kind: 'network_degraded', count: 2, oldest_at: new Date().toISOString() })
    await route.fulfill({ json: home })
  })
  await page.goto(test_(''))
  await page.getByText('stands still, payments show later').waitFor()
  await page.getByText('4 min behind, payments show late').waitFor()
  await page.getByText('nothing is lost and nobody has to pay twice').waitFor()
  await look(page, 'home-halted')
  await page.unroute('**/v1/dashboard/home**')
})

test('in live mode accepting takes a passkey’s yes to exactly that', async () => {
  await live.till('live', 'enable', '--account', live.account)
  const somebody = await person()
  await arrive(somebody, live)
  const { page } = somebody
  // There is no real money here: what is held is written, and what is asked of the passkey is the server's own.
  const invoice = { id: 'inv_1', object: 'invoice', livemode: true, status: 'under_review', amount: { amount: '640.00', currency: 'USD' }, review: { hold: 'sanctions', opened_at: new Date().toISOString() }, description: null, customer_ref: null }
  await page.route('**/v1/invoices/inv_1', (route) => route.fulfill({ json: invoice }))
  await page.route('**/v1/payments?**', (route) => route.fulfill({ json: { object: 'list', data: [], next_cursor: null } }))
  const sent: (string | undefined)[] = []
  await page.route('**/v1/invoices/inv_1/resolve_review', async (route) => {
    const confirmation = route.request().headers()['till-confirmation']
    sent.push(confirmation)
    if (!confirmation) return route.fulfill({ status: 403, json: { error: { code: 'step_up_required', message: 'Confirm it.' } } })
    Object.assign(invoice, { status: 'paid', review: null })
    return route.fulfill({ json: invoice })
  })
  await page.goto(`${live.origin}/dashboard/live/reviews/inv_1`)
  await page.getByText('The sender is on a sanctions list.').waitFor()
  await page.getByRole('radio', { name: /^Accept/ }).check()
  await page.getByText('You take the risk.').waitFor()
  await page.getByLabel('Reason').fill('Cleared by counsel')
  await look(page, 'review-live')
  await page.getByRole('button', { name: 'Accept the payment of 640.00 USD' }).click()
  await page.getByText('accept the held payment of 640.00 USD').waitFor()
  await page.getByText('This is live: it is about real money.').waitFor()
  await page.getByRole('button', { name: 'Use passkey' }).click()
  await page.getByText('Payment accepted').waitFor()
  expect(sent).toEqual([undefined, expect.stringMatching(/^cnf_/)])
  await somebody.close()
})
