// From `till account create … --owner` to a signed-in owner with a passkey, and in again.

import { expect, test } from 'vitest'
import { OWNER, startTill } from './server.ts'
import { arrive, expectCalm, heading, look, person } from './visit.ts'

const server = await startTill()

test('first run: the invitation, a passkey, Home; then out and in again with the passkey', async () => {
  const owner = await person()
  const { page } = owner
  await page.goto(server.link)
  await heading(page, 'Join Northwind Books').waitFor()
  // The token is nowhere a history or a log would keep it.
  expect(page.url()).toBe(`${server.origin}/dashboard/link`)
  await look(page, 'invite')
  await page.getByRole('button', { name: 'Accept the invitation' }).click()
  await heading(page, 'Register a passkey').waitFor()
  await look(page, 'welcome')
  await page.getByRole('button', { name: 'Register a passkey' }).click()
  await heading(page, 'Home').waitFor()
  await page.getByText('1 of 6 done').waitFor()
  await look(page, 'home-first-run')

  await page.getByRole('button', { name: 'Sign out' }).click()
  await heading(page, 'Sign in').waitFor()
  await look(page, 'sign-in')
  await page.getByRole('button', { name: 'Sign in with passkey' }).click()
  await heading(page, 'Home').waitFor()
  await page.getByText(OWNER).first().waitFor()
  await owner.close()
})

test('a used invitation says so, and leads to signing in', async () => {
  const other = await person()
  await other.page.goto(server.link)
  await other.page.getByText('This invitation does not work any more.', { exact: true }).waitFor()
  await other.page.getByRole('link', { name: 'Sign in' }).click()
  await heading(other.page, 'Sign in').waitFor()
  expectCalm(other.page)
  await other.close()
})

test('whoever has a passkey and opens a link gives it as second factor', async () => {
  const { link } = JSON.parse(await server.till('user', 'link', '--email', OWNER, '--json')) as { link: string }
  const stranger = await person()
  await stranger.page.goto(link)
  await heading(stranger.page, 'One more step').waitFor()
  await look(stranger.page, 'second-factor')
  // This browser has no passkey of the owner: the link alone opens nothing.
  await stranger.page.goto(`${server.origin}/dashboard/test`)
  await heading(stranger.page, 'One more step').waitFor()
  await stranger.close()
})

test('Home shows what came in; live mode that is not there says so', async () => {
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', 'second@example.com', '--json')) as { link: string }
  for (const amount of ['48.00', '1150.00', '22.50']) await server.pay((await server.invoice(amount)).id)
  await server.invoice('64.00')
  const owner = await person()
  await arrive(owner, { ...server, link })
  const { page } = owner
  await page.getByText('Received, last 30 days').waitFor()
  await page.getByRole('slider').press('ArrowLeft')
  await look(page, 'home')

  // Live mode is asked for first: the page says so, and keeps its place.
  await page.getByRole('navigation', { name: 'Main' }).first().getByRole('link', { name: 'Live', exact: true }).click()
  await page.getByText('This server takes test payments only.', { exact: true }).waitFor()
  await owner.close()
})

test('keys: the palette, the list of keys, and going home', async () => {
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', 'third@example.com', '--json')) as { link: string }
  const owner = await person()
  await arrive(owner, { ...server, link })
  const { page } = owner
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /id of an invoice/ }).fill('hom')
  await look(page, 'palette')
  await page.keyboard.press('Enter')
  await heading(page, 'Home').waitFor()
  await page.keyboard.press('?')
  await page.getByRole('heading', { name: 'Keys' }).waitFor()
  await look(page, 'keys')
  await page.keyboard.press('Escape')
  await page.goto(`${server.origin}/dashboard/test/nowhere`)
  await heading(page, 'There is no such page').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await heading(page, 'Home').waitFor()
  await owner.close()
})
