// Invoices from the first one to a refund: made, paid, told, cancelled, found again.

import { createServer } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import { startTill } from './server.ts'
import { arrive, heading, look, type Person, person } from './visit.ts'

const server = await startTill()

/** Takes what Till tells, as a merchant's server would. */
const told: string[] = []
const listener = createServer((request, response) => {
  let text = ''
  request.on('data', (part) => (text += part))
  request.on('end', () => {
    told.push((JSON.parse(text) as { type: string }).type)
    response.end('ok')
  })
})
await new Promise<void>((ready) => listener.listen(0, '127.0.0.1', ready))
const { port } = listener.address() as { port: number }
afterAll(() => void listener.close())

let owner: Person
async function signedIn(): Promise<Person> {
  if (owner) return owner
  owner = await person()
  await arrive(owner, server)
  return owner
}

test('a first invoice is made, paid and told about without leaving the page', async () => {
  await server.call('POST', '/v1/merchant/settings', { webhook_url: `http://127.0.0.1:${port}/hook` })
  const { page } = await signedIn()
  await page.keyboard.press('n')
  await heading(page, 'New invoice').waitFor()
  // A refusal stands at its field, and nothing that was typed is lost.
  await page.getByLabel('Amount').fill('abc')
  await page.getByLabel('For').fill('Order 10478, two books')
  await page.getByLabel('Customer').fill('reader-2038')
  await page.getByLabel('Data to attach').fill('order: 10478\nbasket: b-77120')
  await page.getByRole('button', { name: 'Make the invoice' }).click()
  await page.locator('[name="amount"][aria-invalid="true"]').waitFor()
  expect(await page.getByLabel('For').inputValue()).toBe('Order 10478, two books')
  await look(page, 'invoice-new')
  await page.getByLabel('Amount').fill('48.00')
  await page.getByRole('button', { name: 'Make the invoice' }).click()

  await heading(page, /48\.00 USD/).waitFor()
  await page.getByText('Worked out again in this browser').first().waitFor()
  await look(page, 'invoice-waiting')
  await page.getByLabel('Amount').fill('51.00')
  await page.getByRole('button', { name: 'Pay', exact: true }).click()
  await page.getByText('3.00 USDC too much arrived.').waitFor()
  await page.getByText('Your server was told: overpaid').waitFor()
  expect(told).toContain('invoice.overpaid')
  await look(page, 'invoice')

  await page.getByRole('row', { name: /invoice\.overpaid/ }).getByRole('button', { name: 'Send again' }).click()
  await expect.poll(() => told.filter((type) => type === 'invoice.overpaid').length).toBe(2)
})

test('what happens elsewhere appears by itself', async () => {
  const { page } = await signedIn()
  const { id } = await server.invoice('22.50')
  await page.goto(`${server.origin}/dashboard/test/invoices/${id}`)
  await page.getByText('Invoice made').waitFor()
  await server.pay(id, { finality_steps: ['included'] })
  await page.getByText('Payment seen').waitFor()
  await page.getByRole('table', { name: 'Payments' }).getByText('seen').waitFor()
})

test('cancelling says what follows, and does it', async () => {
  const { page } = await signedIn()
  const { id } = await server.invoice('18.00')
  await page.goto(`${server.origin}/dashboard/test/invoices/${id}`)
  await page.getByRole('button', { name: 'Cancel invoice' }).click()
  await page.getByText('The payer can no longer pay it').waitFor()
  await look(page, 'invoice-cancel')
  await page.getByRole('button', { name: 'Keep it' }).click()
  await page.getByRole('button', { name: 'Cancel invoice' }).click()
  await page.getByRole('button', { name: 'Cancel the invoice' }).click()
  await heading(page, /Cancelled/).waitFor()
  // Nobody is shown an address that is not offered any more.
  expect(await page.getByText('Worked out again').count()).toBe(0)
})

test('the list: filters in the address, keys that move, and an empty result that says so', async () => {
  const { page } = await signedIn()
  for (const amount of ['129.00', '1150.00']) await server.pay((await server.invoice(amount, 'School order 77')).id)
  await server.pay((await server.invoice('64.00', 'Order 10480, gift set')).id, { amount: '20.00' })
  await page.goto(`${server.origin}/dashboard/test/invoices`)
  await heading(page, 'Invoices').waitFor()
  await page.getByRole('row', { name: /1,150\.00/ }).waitFor()
  await look(page, 'invoices')
  await page.getByLabel('Before').fill('2020-01-01')
  await page.waitForURL(/to=2020-01-01/)
  await page.getByText('Nothing fits these filters').waitFor()
  await page.getByRole('button', { name: 'Remove the filter Before' }).click()
  await page.getByLabel('From', { exact: true }).fill('2020-01-01')
  await page.waitForURL(/from=2020-01-01/)
  await page.getByRole('row', { name: /1,150\.00/ }).waitFor()
  await page.getByLabel('Status').selectOption('partially_paid')
  await page.waitForURL(/status=partially_paid/)
  await page.getByRole('row', { name: /64\.00/ }).waitFor()
  await expect.poll(() => page.getByRole('row').count()).toBe(2)
  await page.keyboard.press('Escape')
  await page.locator('h1').focus()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByText('44.00 USDC are still to come.').waitFor()
  await page.goBack()
  await page.getByRole('searchbox', { name: 'Customer reference' }).fill('nobody')
  await page.keyboard.press('Enter')
  await page.getByText('Nothing fits these filters').waitFor()
  await look(page, 'invoices-nothing')
})

test('a viewer sees all of it and is offered nothing to do', async () => {
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', 'viewer@example.com', '--role', 'viewer', '--json')) as { link: string }
  const viewer = await person()
  await arrive(viewer, { ...server, link })
  const { page } = viewer
  const { id } = await server.invoice('31.90')
  await page.goto(`${server.origin}/dashboard/test/invoices/${id}`)
  await page.getByText('Invoice made').waitFor()
  for (const name of ['Cancel invoice', 'Pay', 'Send again']) expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0)
  await page.goto(`${server.origin}/dashboard/test/invoices/new`)
  await heading(page, 'Your role does not include this page').waitFor()
  await viewer.close()
})

test('an invoice that is not there says so', async () => {
  const { page } = await signedIn()
  await page.goto(`${server.origin}/dashboard/test/invoices/inv_nothing`)
  await page.getByText('This is not here.', { exact: true }).waitFor()
})
