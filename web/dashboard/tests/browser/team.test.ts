// Invitations and roles, as the people see them.

import { expect, test } from 'vitest'
import { startTill } from './server.ts'
import { arrive, expectCalm, heading, look, person } from './visit.ts'

const server = await startTill()
const MATE = 'mate@example.com'

test('somebody is invited by a link, made support, and removed; what was typed survives a refusal', { timeout: 120_000 }, async () => {
  const owner = await person()
  await arrive(owner, server)
  const { page } = owner
  await page.goto(`${server.origin}/dashboard/test/team`)
  await page.getByText('1 member', { exact: true }).waitFor()
  const email = page.getByLabel('E-mail address')
  await email.fill('owner@example.com')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByText('This person is a member already').first().waitFor()
  expect(await email.inputValue()).toBe('owner@example.com')
  await email.fill(MATE)
  await page.getByLabel('Role', { exact: true }).selectOption('viewer')
  await page.getByText('Changes nothing.').first().waitFor()
  await page.getByRole('button', { name: 'Invite' }).click()
  const link = await page.locator('code.one').innerText()
  expect(link).toContain('/dashboard/link#invite=')
  await look(page, 'team-invited')

  const mate = await person()
  await arrive(mate, { ...server, link })
  await mate.page.goto(`${server.origin}/dashboard/test/team`)
  await mate.page.getByText('2 members').waitFor()
  // A viewer sees who is there, and no button but the way out.
  expect(await mate.page.getByRole('button', { name: /Invite|Change role|Remove|Withdraw/ }).count()).toBe(0)
  await look(mate.page, 'team-viewer')
  for (const path of ['/audit', '/application', '/operator']) {
    await mate.page.goto(`${server.origin}/dashboard/test${path}`)
    await heading(mate.page, /Your role does not include this page|There is no such page/).waitFor()
  }

  await page.reload()
  await page.getByText('2 members').waitFor()
  await page.getByRole('button', { name: `Change role of ${MATE}` }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Role', { exact: true }).selectOption('support')
  await look(page, 'team-role')
  await dialog.getByRole('button', { name: 'Change role' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText(`${MATE} is support now`).waitFor()
  await page.getByRole('listitem').filter({ hasText: MATE }).getByText('support').first().waitFor()

  await page.getByRole('listitem').filter({ hasText: MATE }).getByRole('button', { name: 'Remove' }).click()
  await dialog.getByText('They are out at once.').waitFor()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('1 member', { exact: true }).waitFor()
  await mate.page.goto(`${server.origin}/dashboard/test/team`)
  await heading(mate.page, 'You are in no organisation').waitFor()

  // The only owner stays.
  await page.getByRole('button', { name: 'Leave' }).click()
  await dialog.getByRole('button', { name: 'Leave' }).click()
  await dialog.getByText('You are the only owner').first().waitFor()
  expectCalm(page)
  await mate.close()
  await owner.close()
})

test('a session that ends while a form is open: signed in again, and nothing typed is lost', async () => {
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', 'second@example.com', '--json')) as { link: string }
  const owner = await person()
  await arrive(owner, { ...server, link })
  const { page } = owner
  await page.goto(`${server.origin}/dashboard/test/team`)
  await page.getByLabel('E-mail address').fill('late@example.com')
  await page.getByLabel('Role', { exact: true }).selectOption('support')
  await owner.context.clearCookies({ name: 'till_session' })
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor()
  await look(page, 'session-ended')
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in with passkey' }).click()
  await page.getByText('Pass this link on to late@example.com').waitFor()
  await page.getByRole('listitem').filter({ hasText: 'late@example.com' }).getByRole('button', { name: 'Withdraw' }).click()
  await page.getByText('No invitations are open').waitFor()
  await owner.close()
})
