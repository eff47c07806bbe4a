// Settings of a mode, the organisation's name, the audit log, notices.

import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { startTill } from './server.ts'
import { arrive, heading, look, person } from './visit.ts'

const server = await startTill()
const to = (path: string) => `${server.origin}/dashboard/test${path}`

test('settings are changed field by field, and the log says so', { timeout: 120_000 }, async () => {
  const owner = await person()
  await arrive(owner, server)
  const { page } = owner
  await page.goto(to('/settings'))
  await page.getByLabel('Payers see').fill('Northwind')
  await page.getByLabel('Little enough to forgive').fill('half')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('This is a percentage').first().waitFor()
  expect(await page.getByLabel('Payers see').inputValue()).toBe('Northwind')
  await page.getByLabel('Little enough to forgive').fill('0.5')
  await page.getByLabel('Where payers ask for help').fill('mailto:help@example.com')
  await look(page, 'settings')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const now = await server.call<{ display_name: string; underpay_tolerance_bps: number }>('GET', '/v1/merchant/settings')
  expect([now.display_name, now.underpay_tolerance_bps]).toEqual(['Northwind', 50])

  // A later save leaves alone what somebody else changed meanwhile.
  await server.call('POST', '/v1/merchant/settings', { display_name: 'Changed elsewhere' })
  await page.getByLabel('Look at payments from').fill('5000')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await server.call<{ manual_review_amount: string | null }>('GET', '/v1/merchant/settings')).manual_review_amount).not.toBeNull()
  expect((await server.call<{ display_name: string }>('GET', '/v1/merchant/settings')).display_name).toBe('Changed elsewhere')

  await page.getByLabel('Name', { exact: true }).fill('Northwind & Daughters')
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByText('Northwind & Daughters').first().waitFor()

  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download config.json' }).click()])
  expect(file.suggestedFilename()).toBe('config.json')
  const config = JSON.parse(await text(await file.createReadStream())) as Record<string, unknown>
  expect(JSON.stringify(config)).toContain('0x')

  await page.goto(to('/audit'))
  await page.getByRole('row').filter({ hasText: 'Organisation renamed' }).waitFor()
  await look(page, 'audit')
  await page.getByLabel('Action').selectOption('settings.updated')
  await page.getByRole('row').filter({ hasText: 'Settings changed' }).first().waitFor()
  expect(await page.getByRole('row').filter({ hasText: 'Organisation renamed' }).count()).toBe(0)
  expect(page.url()).toContain('action=settings.updated')

  await page.goto(to('/notices'))
  await page.getByText('A passkey was added to your account').waitFor()
  await look(page, 'notices')
  await page.getByRole('button', { name: 'Mark all read' }).click()
  await page.getByRole('button', { name: 'Mark all read' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'A passkey was added' }).click()
  await heading(page, 'Security').waitFor()
  await owner.close()
})

test('a viewer reads the settings, and has neither a form nor the log', async () => {
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', 'viewer@example.com', '--role', 'viewer', '--json')) as { link: string }
  const viewer = await person()
  await arrive(viewer, { ...server, link })
  const { page } = viewer
  await page.goto(to('/settings'))
  await page.getByText('Changed elsewhere').waitFor()
  expect(await page.locator('main form').count()).toBe(0)
  await look(page, 'settings-viewer')
  await page.goto(to('/audit'))
  await heading(page, 'Your role does not include this page').waitFor()
  await viewer.close()
})
