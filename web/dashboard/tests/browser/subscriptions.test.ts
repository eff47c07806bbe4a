// A customer, a plan and a subscription: begun, paid, paused, gone on with, ended with its period.

import { expect, test } from 'vitest'
import { startTill } from './server.ts'
import { arrive, expectCalm, heading, look, type Person, person } from './visit.ts'

const server = await startTill()

test('from an empty account to a subscription that ends with its period', { timeout: 120_000 }, async () => {
  const owner = await person()
  await arrive(owner, server)
  const { page } = owner
  await page.goto(`${server.origin}/dashboard/test/subscriptions`)
  await page.getByText('No subscriptions').waitFor()
  await look(page, 'subscriptions-empty')
  await page.getByRole('link', { name: 'New subscription' }).first().click()
  await page.getByText('A subscription needs a plan first').waitFor()
  await page.getByRole('link', { name: 'New plan' }).click()
  await heading(page, 'New plan').waitFor()
  await page.getByLabel('Name').fill('Book club')
  await page.getByLabel('Price per period').fill('9.00')
  await page.getByLabel('Billing time zone').selectOption('Europe/Berlin')
  // A refusal lands at its field.
  await page.getByLabel('Invoices per period').fill('9')
  await page.getByRole('button', { name: 'Make the plan' }).click()
  await page.locator('[name="max_attempts"][aria-invalid="true"]').waitFor()
  await look(page, 'plan-new')
  await page.getByLabel('Invoices per period').fill('4')
  await page.getByRole('button', { name: 'Make the plan' }).click()
  await heading(page, 'Book club').waitFor()
  await page.getByText('9.00 USD every month').waitFor()
  await look(page, 'plan')

  await page.goto(`${server.origin}/dashboard/test/customers/new`)
  await page.getByLabel('Name').fill('Ada <b>Reader</b>')
  await page.getByLabel('E-mail address').fill('ada@example.com')
  await look(page, 'customer-new')
  await page.getByRole('button', { name: 'Add the customer' }).click()
  await heading(page, 'Ada <b>Reader</b>').waitFor()

  await page.getByRole('link', { name: 'New subscription' }).click()
  await heading(page, 'New subscription').waitFor()
  await page.getByText('The first invoice is made at once.').waitFor()
  await look(page, 'subscription-new')
  await page.getByRole('button', { name: 'Begin the subscription' }).click()
  await page.getByText('The first invoice is not paid yet.').waitFor()
  await page.getByText('1 of 4', { exact: true }).waitFor()
  await page.getByText('None so far.').waitFor()
  await look(page, 'subscription-incomplete')

  const id = new URL(page.url()).pathname.split('/').pop() ?? ''
  const { latest_invoice } = await server.call<{ latest_invoice: string }>('GET', `/v1/subscriptions/${id}`)
  await server.pay(latest_invoice)
  await page.reload()
  await page.getByText('Active').first().waitFor()
  await page.getByText('(Europe/Berlin)').first().waitFor()
  const periods = page.getByRole('table', { name: 'Paid periods' })
  await expect.poll(() => periods.getByRole('row').count()).toBe(2)
  expect(await periods.getByRole('cell').first().innerText()).toBe('1')
  expect(await periods.getByRole('link', { name: 'Invoice' }).getAttribute('href')).toContain(latest_invoice)
  await look(page, 'subscription-active')

  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Paused since').waitFor()
  await page.getByRole('button', { name: 'Go on' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Go on' }).click()
  await page.getByText('The subscription goes on').waitFor()
  await page.getByRole('button', { name: 'End with the period' }).click()
  await page.getByText('It stays as it is until then').waitFor()
  await look(page, 'subscription-end')
  await page.getByRole('dialog').getByRole('button', { name: 'End with the period' }).click()
  await page.getByText('Ends on').waitFor()
  await page.getByText('It is not renewed after that.').waitFor()
  expect((await server.call<{ cancel_at_period_end: boolean }>('GET', `/v1/subscriptions/${id}`)).cancel_at_period_end).toBe(true)

  await page.goto(`${server.origin}/dashboard/test/subscriptions`)
  await page.getByText('Ada <b>Reader</b>').waitFor()
  await look(page, 'subscriptions')
  await owner.close()
})

/** One more owner, with a browser of their own. */
async function signedIn(email: string): Promise<Person> {
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', email, '--json')) as { link: string }
  const owner = await person()
  await arrive(owner, { ...server, link })
  return owner
}

test('a top-up is made, and its credit appears by what arrived', async () => {
  const customer = await server.call<{ id: string }>('POST', '/v1/customers', { name: 'Grace', metadata: { shelf: 'B12' } })
  const owner = await signedIn('second@example.com')
  const { page } = owner
  await page.goto(`${server.origin}/dashboard/test/customers/${customer.id}`)
  await heading(page, 'Grace').waitFor()
  await page.getByText('None. What a customer pays in advance').waitFor()
  await page.getByText('Make a top-up invoice').click()
  await page.getByLabel('Amount').fill('30.00')
  await look(page, 'customer-top-up')
  await page.getByRole('button', { name: 'Make the invoice' }).click()
  await page.getByText('The invoice is made.').waitFor()
  const invoice = /inv_\w+/.exec((await page.locator('.copyfield code').textContent()) ?? '')?.[0] ?? ''
  await server.pay(invoice)
  await page.reload()
  await page.getByText('30.00').first().waitFor()
  await page.getByText('The next renewals take it').waitFor()
  await look(page, 'customer')
  await page.goto(`${server.origin}/dashboard/test/customers`)
  await page.getByText('Grace').waitFor()
  await look(page, 'customers')
  await page.keyboard.press('/')
  await page.keyboard.type('b12')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\?find=b12$/)
  await expect.poll(() => page.getByRole('row').count()).toBe(2)
  await page.getByText('Grace').waitFor()
  await page.goto(`${server.origin}/dashboard/test/customers?find=nobody`)
  await page.getByText('Nothing fits these filters').waitFor()
  await look(page, 'customers-none')

  await page.goto(`${server.origin}/dashboard/test/plans`)
  await page.getByText('Book club').click()
  await page.getByRole('button', { name: 'Archive' }).click()
  await page.getByText('Nobody can be put on it any more.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click()
  await page.getByText('It takes no new subscriptions.').waitFor()
  await page.goto(`${server.origin}/dashboard/test/plans`)
  await page.getByText('Archived').waitFor()
  await look(page, 'plans')
  await owner.close()
})

test('a period that credit paid says so', async () => {
  const owner = await signedIn('third@example.com')
  const { page } = owner
  const customer = await server.call<{ id: string }>('POST', '/v1/customers', { name: 'A customer whose name is a good deal longer than a telephone is wide' })
  const topUp = await server.call<{ id: string }>('POST', `/v1/customers/${customer.id}/top_up`, { amount: '30.00', currency: 'USD' })
  await server.pay(topUp.id)
  const plan = await server.call<{ id: string }>('POST', '/v1/plans', { name: 'Weekly', amount: '5.00', currency: 'USD', interval: 'week' })
  const made = await server.call<{ id: string }>('POST', '/v1/subscriptions', { customer: customer.id, plan: plan.id })
  await page.goto(`${server.origin}/dashboard/test/subscriptions/${made.id}`)
  await page.getByRole('table', { name: 'Paid periods' }).getByText('Prepaid credit').waitFor()
  await page.goto(`${server.origin}/dashboard/test/subscriptions?customer=${customer.id}`)
  await page.getByRole('table').waitFor()
  await look(page, 'subscriptions-long-name')
  // On a phone the whole name is there, whatever stands beside it.
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await page.locator('td .cover').evaluate(({ parentElement: cell }) => (cell as HTMLElement).scrollWidth - (cell as HTMLElement).clientWidth)).toBeLessThanOrEqual(0)
  await owner.close()
})

test('a viewer reads customers, plans and subscriptions, and changes none', async () => {
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', 'viewer@example.com', '--role', 'viewer', '--json')) as { link: string }
  const viewer = await person()
  await arrive(viewer, { ...server, link })
  const { page } = viewer
  for (const [path, title] of [
    ['customers', 'Customers'],
    ['plans', 'Plans'],
    ['subscriptions', 'Subscriptions'],
  ] as const) {
    await page.goto(`${server.origin}/dashboard/test/${path}`)
    await heading(page, title).waitFor()
    await page.getByRole('table').waitFor()
    expect(await page.getByRole('link', { name: /^New/ }).count()).toBe(0)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByText('Facts').waitFor()
    expect(await page.locator('main .head button').count()).toBe(0)
  }
  await page.goto(`${server.origin}/dashboard/test/plans/new`)
  await heading(page, 'Your role does not include this page').waitFor()
  expectCalm(page)
  await viewer.close()
})
