// Live destinations: the first at once; later ones wait, are seen by others, cancelled, or take effect.

import { expect, test } from 'vitest'
import { startTill } from './server.ts'
import { arrive, expectCalm, heading, look, type Person, person } from './visit.ts'

const DELAY_S = 12
// Nobody answers at this address: the network counts as watched, and that is enough here.
const server = await startTill(`[networks."eip155:8453"]\nrpc = ["http://127.0.0.1:9"]\n[dashboard]\nchange_delay_s = ${DELAY_S}\n`, 'live_mode = true')

const FIRST = '0x8ba1f109551bd432803012645ac136ddd64dba72'
const SECOND = '0x9a1fc8c0369d49f3040bf49c1490e7006657ea56'
const ENDS = { first: '0x8ba1…BA72', second: /0x9a1f…ea56/i }

async function member(email: string, role: string): Promise<Person> {
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', email, '--role', role, '--json')) as { link: string }
  const one = await person()
  await arrive(one, { ...server, link })
  return one
}

const open = async ({ page }: Person, path: string) => page.goto(`${server.origin}/dashboard/live${path}`)

async function ask(one: Person, address: string): Promise<void> {
  const { page } = one
  await open(one, '/destinations/eip155')
  await page.getByLabel('New address').fill(address)
  await page.getByLabel('I compared the whole address').check()
  await page.getByRole('button', { name: 'Ask for the change' }).click()
  await page.getByRole('button', { name: 'Use passkey' }).click()
  await heading(page, 'Destinations').waitFor()
}

test('a live destination: first at once, then waiting, seen and cancelled by another, then in effect', { timeout: 180_000 }, async () => {
  await server.till('live', 'enable', '--account', server.account)
  const owner = await person()
  await arrive(owner, server)
  const { page } = owner
  await open(owner, '/destinations')
  await page.getByText('not set, not offered to payers').first().waitFor()
  await look(page, 'destinations-none')

  // A typing error is said before anything is sent; the tick is asked for.
  await open(owner, '/destinations/eip155')
  await page.getByLabel('New address').fill(`${FIRST}0`)
  await page.getByText('This is no right address of that kind').waitFor()
  await page.getByLabel('New address').fill(FIRST)
  await page.getByText('Look again.').waitFor()
  await look(page, 'destination-new')
  await page.getByRole('button', { name: 'Ask for the change' }).click()
  await page.getByText('Compare it first').waitFor()
  // A tick counts for the address it was set at, and an address that is none is not sent.
  await page.getByLabel('I compared the whole address').check()
  await page.getByLabel('New address').fill(SECOND)
  await expect.poll(() => page.getByLabel('I compared the whole address').isChecked()).toBe(false)
  await page.getByLabel('New address').fill('0x1234')
  await page.getByRole('button', { name: 'Ask for the change' }).click()
  await page.locator('.err').waitFor()

  await ask(owner, FIRST)
  await page.getByText(ENDS.first).waitFor()

  // The first live invoice: from now on changes wait.
  await open(owner, '/developers/keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Shop')
  await page.getByRole('dialog').getByRole('button', { name: 'New key' }).click()
  await page.getByRole('button', { name: 'Use passkey' }).click()
  const key = await page.locator('code.one').innerText()
  const made = await fetch(`${server.origin}/v1/invoices`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'first-live' },
    body: JSON.stringify({ amount: '5.00', currency: 'USD', assets: ['USDC@eip155:8453'] }),
  })
  expect(await made.text()).toContain('"inv_')

  const other = await member('second@example.com', 'owner')
  await open(other, '/destinations')
  await other.page.getByText(ENDS.first).waitFor()

  await ask(owner, SECOND)
  await page.getByText('EVM destination changes in').waitFor()
  // The other browser sees it by itself, and stops it.
  await other.page.getByText('EVM destination changes in').waitFor()
  await other.page.getByRole('button', { name: 'Cancel this change' }).click()
  await other.page.getByRole('dialog').getByRole('button', { name: 'Cancel this change' }).click()
  await other.page.getByText('EVM destination changes in').waitFor({ state: 'detached' })
  await page.getByText('EVM destination changes in').waitFor({ state: 'detached' })
  await page.getByText(ENDS.first).waitFor()
  await page.getByText('cancelled by second@example.com').waitFor()

  await ask(owner, SECOND)
  await page.getByText('EVM destination changes in').waitFor()
  await look(page, 'destinations-waiting')
  await page.getByText(ENDS.second).waitFor({ timeout: (DELAY_S + 20) * 1_000 })
  await page.getByText('EVM destination changes in').waitFor({ state: 'detached' })
  await look(page, 'destinations')

  // The webhook address waits in the same way.
  await open(owner, '/developers/webhooks')
  await page.getByLabel('Address of your server').fill('http://localhost:9/hooks')
  await page.getByRole('button', { name: 'Ask for the change' }).click()
  await page.getByRole('button', { name: 'Use passkey' }).click()
  await page.getByText('The webhook address changes in').waitFor()
  await look(page, 'webhooks-waiting')
  expectCalm(other.page)
  await other.close()
  await owner.close()
})

test('an address that is none is not shown, whoever says so; a viewer has no button', async () => {
  const viewer = await member('viewer@example.com', 'viewer')
  const { page } = viewer
  await page.route('**/v1/dashboard/destinations', async (route) => {
    const answer = await route.fetch()
    const text = await answer.text()
    await route.fulfill({ response: answer, body: text.replace(/"address":"0x[0-9a-fA-F]{40}"/, '"address":"0x0000000000000000000000000000000000000bad"') })
  })
  await open(viewer, '/destinations')
  await page.getByText('This address is not shown').waitFor()
  expect(await page.content()).not.toContain('0bad')
  expect(await page.getByRole('link', { name: /^(Change|Add)/ }).count()).toBe(0)
  await look(page, 'destinations-lying')
  await open(viewer, '/destinations/eip155')
  await page.getByText('Your role does not change destinations').waitFor()
  expect(await page.locator('main form').count()).toBe(0)
  await viewer.close()
})

test('test mode rehearses a change with its own clock; an account key is shown with its first address', { timeout: 120_000 }, async () => {
  const developer = await member('developer@example.com', 'developer')
  const { page } = developer
  const to = (path: string) => `${server.origin}/dashboard/test${path}`
  await page.goto(to('/destinations/bip122'))
  await page.getByText('The first receiving address').waitFor()
  await look(page, 'destination-bitcoin')
  await page.goto(to('/destinations/eip155'))
  await page.getByLabel('New address').fill(SECOND)
  await page.getByLabel('I compared the whole address').check()
  await page.getByLabel('When').selectOption('86400')
  await page.getByRole('button', { name: 'Ask for the change' }).click()
  await page.getByText('by the clock of test mode').waitFor()
  await page.getByText(/^(1 day|23 hours)/).waitFor()
  await look(page, 'destinations-test')
  await server.call('POST', '/v1/test_helpers/clock', { advance_seconds: 90_000 })
  await page.getByText(ENDS.second).waitFor({ timeout: 30_000 })
  await developer.close()
})
