// The books of a period: three views, differences, balances, the file, the signed days, how payments go.

import { expect, test } from 'vitest'
import { startTill } from './server.ts'
import { arrive, expectCalm, heading, look, person } from './visit.ts'

const server = await startTill()
const ASSET = 'USDC@eip155:84532'
const PAYEE = '0xd35C790730359cCAB2A953238A391bc3ff664871'

test('nothing happened, then much did: views, an explained difference and a flagged one, the file', { timeout: 120_000 }, async () => {
  const owner = await person()
  await arrive(owner, server)
  const { page } = owner
  await page.goto(`${server.origin}/dashboard/test/reconciliation`)
  await page.getByText('Nothing happened in this period').waitFor()
  await look(page, 'reconciliation-empty')
  await page.getByRole('navigation', { name: 'Reconciliation' }).getByRole('link', { name: 'How payments go' }).click()
  await page.getByText('No invoices yet.').waitFor()

  for (const amount of ['48.00', '1150.00']) await server.pay((await server.invoice(amount)).id, { asset: ASSET })
  await server.pay((await server.invoice('22.50')).id, { asset: ASSET, finality_steps: ['included'] })
  await page.goto(`${server.origin}/dashboard/test/reconciliation`)
  await page.getByText('The books, the networks and the invoices agree.').waitFor()
  await page.getByText('1 difference that is explained').click()
  await page.getByText('Seen on the chain and not settled yet.').waitFor()
  await page.getByText('1,198.00').first().waitFor()
  await look(page, 'reconciliation')

  // A payment is refunded, and then its network takes it back.
  const { id } = await server.invoice('64.00')
  await server.pay(id, { asset: ASSET })
  const refund = await server.call<{ id: string; claim_token: string }>('POST', `/v1/invoices/${id}/refunds`, { amount: '64.00' })
  await server.call('POST', `/v1/refund_claims/${refund.claim_token}`, { network: 'eip155:84532', address: PAYEE })
  await server.call('POST', `/v1/refunds/${refund.id}/mark_sent`, { tx_hash: `0x${'cd'.repeat(32)}` })
  const { data } = await server.call<{ data: { id: string }[] }>('GET', `/v1/payments?invoice=${id}`)
  await server.call('POST', `/v1/test_helpers/payments/${data[0]?.id}/reverse`, {})
  await page.getByRole('button', { name: 'This month' }).click()
  await page.getByText('1 difference has no explanation.').waitFor()
  await page.getByText('Refunded too much').waitFor()
  expect(new URL(page.url()).searchParams.get('from')).toMatch(/-01$/)
  await page.getByRole('slider').press('End')
  await look(page, 'reconciliation-flagged')

  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV' }).click()
  const file = await coming
  expect(file.suggestedFilename()).toMatch(/^reconciliation.*\.csv$/)
  const chunks: Buffer[] = []
  for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  expect(text.split('\r\n')[0]).toBe('section,asset,item,amount,severity,invoice,network,tx_hash,index,detail')
  expect(text).toContain('refunded_beyond_received')

  // A period that is too long is refused with a remedy, and the fields stay.
  await page.getByLabel('First day').fill('2020-01-01')
  await page.locator('.note.bad').waitFor()
  expect(await page.getByLabel('First day').inputValue()).toBe('2020-01-01')
  expectCalm(page)

  await page.goto(`${server.origin}/dashboard/test/reconciliation/course`)
  await page.getByRole('heading', { name: 'From seen to paid' }).waitFor()
  await page.getByRole('heading', { name: 'What became of invoices' }).waitFor()
  await page.getByText('Show as table').first().click()
  await look(page, 'course')
  await page.goto(`${server.origin}/dashboard/test/reconciliation/digests`)
  await page.getByText('No day is signed yet').waitFor()
  await page.getByText(`till digest verify --account ${server.account} --mode test`).waitFor()
  await look(page, 'digests')
  await owner.close()
})

test('a viewer reads the books, and not the signed days', async () => {
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', 'viewer@example.com', '--role', 'viewer', '--json')) as { link: string }
  const viewer = await person()
  await arrive(viewer, { ...server, link })
  const { page } = viewer
  await page.goto(`${server.origin}/dashboard/test/reconciliation`)
  await heading(page, 'Reconciliation').waitFor()
  await page.getByText('Balances', { exact: true }).waitFor()
  expect(await page.getByRole('link', { name: 'Signed days' }).count()).toBe(0)
  await page.goto(`${server.origin}/dashboard/test/reconciliation/digests`)
  await heading(page, 'Your role does not include this page').waitFor()
  // Live mode is not there: every screen says so, and keeps its head.
  for (const path of ['refunds', 'links', 'customers', 'plans', 'subscriptions', 'reconciliation', 'reconciliation/course']) {
    await page.goto(`${server.origin}/dashboard/live/${path}`)
    await page.getByText('This server takes test payments only.', { exact: true }).first().waitFor()
    await page.getByRole('heading', { level: 1 }).waitFor()
  }
  await look(page, 'reconciliation-live')
  await viewer.close()
})
