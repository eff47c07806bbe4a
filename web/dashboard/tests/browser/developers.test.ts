// Keys, the webhook address and its log, the request builder.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import { startTill } from './server.ts'
import { arrive, heading, look, person } from './visit.ts'

const server = await startTill()

/** The merchant's own server, which refuses until it is mended. */
let answer = 503
const received: string[] = []
const shop = createServer((request, response) => {
  let body = ''
  request.on('data', (part) => (body += part))
  request.on('end', () => {
    received.push((JSON.parse(body) as { id: string }).id)
    response.writeHead(answer).end('<b>upstream</b> connect error')
  })
}).listen(0, '127.0.0.1')
await once(shop, 'listening')
afterAll(() => void shop.close())
const { port } = shop.address() as { port: number }

test('a key is made, shown once, replaced and stopped', { timeout: 120_000 }, async () => {
  const owner = await person()
  await arrive(owner, server)
  const { page } = owner
  await page.goto(`${server.origin}/dashboard/test/developers/keys`)
  await heading(page, 'Developers').waitFor()
  await page.getByText('the command line').first().waitFor()
  await look(page, 'keys-list')
  await page.getByRole('button', { name: 'New key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Shop server')
  await look(page, 'keys-new')
  await dialog.getByRole('button', { name: 'New key' }).click()
  await page.getByText('Your new key: Shop server').waitFor()
  const secret = await page.locator('code.one').innerText()
  expect(secret).toMatch(/^till_test_sk_/)
  await look(page, 'keys-made')
  const works = (key: string) => fetch(`${server.origin}/v1/invoices`, { headers: { authorization: `Bearer ${key}` } }).then(({ status }) => status)
  expect(await works(secret)).toBe(200)

  const row = page.getByRole('row').filter({ hasText: 'Shop server' })
  await row.getByRole('button', { name: 'Replace' }).click()
  await dialog.getByRole('button', { name: 'Replace' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => page.locator('code.one').innerText()).not.toBe(secret)
  const second = await page.locator('code.one').innerText()
  expect([await works(secret), await works(second)]).toEqual([401, 200])
  await page.reload()
  await heading(page, 'Developers').waitFor()
  expect(await page.content()).not.toContain(second)

  await page.getByRole('row').filter({ hasText: 'Shop server' }).getByRole('button', { name: 'Stop' }).first().click()
  await dialog.getByRole('button', { name: 'Stop' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => works(second)).toBe(401)
  await owner.close()
})

test('the webhook address is set, what fails is shown, and sent again', { timeout: 120_000 }, async () => {
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', 'second@example.com', '--json')) as { link: string }
  const owner = await person()
  await arrive(owner, { ...server, link })
  const { page } = owner
  await page.goto(`${server.origin}/dashboard/test/developers`)
  await page.getByText('Nothing is sent.', { exact: true }).waitFor()
  await look(page, 'deliveries-none')
  await page.getByRole('link', { name: 'Webhook address' }).click()
  await page.getByLabel('Address of your server').fill('ftp://shop.example.com')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('This address cannot be called').waitFor()
  await page.getByLabel('Address of your server').fill(`http://localhost:${port}/hooks/till`)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Stop sending' }).waitFor()
  await page.getByRole('button', { name: 'Make a new one' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Make a new one' }).click()
  await expect.poll(() => page.locator('code.one').innerText()).toMatch(/^whsec_/)
  await look(page, 'webhooks')

  await server.pay((await server.invoice()).id)
  await expect.poll(() => received.length, { timeout: 20_000 }).toBeGreaterThan(0)
  await page.goto(`${server.origin}/dashboard/test/developers?status=failed`)
  await page.getByText('503').first().waitFor()
  await look(page, 'deliveries')
  answer = 200
  await page.getByRole('row').filter({ hasText: '503' }).first().getByRole('link').click()
  await page.getByText('<b>upstream</b> connect error').first().waitFor()
  const sent = page.getByLabel('What is sent')
  const event = new URL(page.url()).pathname.split('/').at(-1) as string
  expect(received).toContain(event)
  await expect.poll(() => sent.innerText()).toContain(`"id": "${event}"`)
  await look(page, 'delivery')
  const before = received.length
  await page.getByRole('button', { name: 'Send again' }).click()
  await expect.poll(() => received.length, { timeout: 20_000 }).toBeGreaterThan(before)
  // There are two of them where the planned retry came at the same time.
  await page.getByText('200', { exact: true }).first().waitFor()

  // After an hour of outage: everything that failed since, at once.
  answer = 503
  const { id } = await server.invoice()
  await server.pay(id)
  await page.goto(`${server.origin}/dashboard/test/developers?status=failed&invoice=${id}`)
  await page.getByText('503').first().waitFor()
  answer = 200
  await page.getByRole('button', { name: 'Send what failed again' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('What did not arrive').selectOption('in the last hour')
  await dialog.getByText('sent again').waitFor()
  await look(page, 'deliveries-again')
  await dialog.getByRole('button', { name: 'Send what failed again' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.goto(`${server.origin}/dashboard/test/developers?status=succeeded&invoice=${id}`)
  await page.getByText('200', { exact: true }).first().waitFor()
  await owner.close()
})

test('the request builder writes a command that works, with a test key alone', async () => {
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', 'viewer@example.com', '--role', 'viewer', '--json')) as { link: string }
  const viewer = await person()
  await arrive(viewer, { ...server, link })
  const { page } = viewer
  await page.goto(`${server.origin}/dashboard/test/developers/requests`)
  await page.getByLabel('Secret test key').fill('till_live_sk_secret')
  expect(await page.locator('pre').innerText()).not.toContain('till_live_sk_secret')
  await page.getByText('so it is left out').waitFor()
  await page.getByLabel('Secret test key').fill(server.secretKey)
  expect(await page.locator('pre').innerText()).toContain(server.secretKey)
  await look(page, 'builder')
  // A viewer has neither the page of keys nor a button that sets an address.
  expect(await page.getByRole('link', { name: 'API keys' }).count()).toBe(0)
  await page.goto(`${server.origin}/dashboard/test/developers/keys`)
  await heading(page, 'Your role does not include this page').waitFor()
  await page.goto(`${server.origin}/dashboard/test/developers/webhooks`)
  await page.getByText('Signing secret').waitFor()
  expect(await page.getByRole('button', { name: /Save|Make a new one|Stop sending/ }).count()).toBe(0)
  await viewer.close()
})
