// Deadlines: what the page says before, at and after them.

import { expect, test } from 'vitest'
import { BASE, openShop } from './shop.ts'
import { expectCalm, heading, look, visit } from './visit.ts'

const shop = await openShop()
const at = (id: string) => `${shop.pages}/i/${id}`

test('the last minutes warn in words, and the end takes the address away by itself', async () => {
  const made = await shop.invoice([BASE])
  const { page, context, close } = await visit('about:blank')
  await page.clock.install({ time: new Date() })
  const settled = page.waitForResponse('**/later-*.js')
  await page.goto(at(made.id))
  await page.locator('.addr').waitFor()
  await (await settled).finished()
  expect(await page.locator('.due').textContent()).toMatch(/Pay before .*(59|60) minutes left/)
  // What nobody answers for goes by the clock that was last heard of.
  await context.setOffline(true)
  await page.clock.fastForward('56:00')
  await page.locator('.due.warn').waitFor()
  expect(await page.getByRole('status').allTextContents()).toContainEqual(expect.stringMatching(/[34] minutes left/))
  await look(page, 'last-minutes')
  await page.clock.fastForward('05:00')
  await heading(page, 'Time is over').waitFor()
  expect(await page.locator('.addr, .tile').count()).toBe(0)
  await close()
})

test('an invoice that expired says not to send, and what to do with money that was', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  await shop.wait(61)
  await heading(page, 'Time is over').waitFor()
  expect(await page.getByRole('alert').allTextContents()).toContainEqual(expect.stringContaining('Do not send money'))
  await look(page, 'expired')

  // What comes all the same is the payer's to ask for.
  await shop.pay(made.id)
  await page.reload()
  await page.getByText('it came too late for this order').waitFor()
  // Said first: whoever sent money looks for nothing else.
  const said = (await page.locator('main').textContent()) ?? ''
  expect(said.indexOf('it came too late')).toBeLessThan(said.indexOf('Do not send money'))
  await look(page, 'expired-late')
  await close()
})

test('an open page learns of money that comes late, and says so aloud', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit('about:blank')
  await page.clock.install()
  await page.goto(at(made.id))
  await page.locator('.addr').waitFor()
  await shop.wait(61)
  await heading(page, 'Time is over').waitFor()
  await shop.pay(made.id, { finality_steps: ['included'] })
  await page.clock.runFor(61_000)
  await page.locator('.note').getByText('it came too late for this order').waitFor()
  expect(await page.getByRole('status').allTextContents()).toContainEqual(expect.stringContaining('it came too late'))
  // The warning not to send is not said again.
  expect(await page.getByRole('alert').allTextContents()).toEqual([''])
  await look(page, 'late-open')
  await close()
})

test('the page goes by the clock that the merchant moves', async () => {
  const made = await shop.invoice([BASE])
  await shop.wait(40)
  const { page, close } = await visit('about:blank')
  await page.clock.install()
  await page.goto(at(made.id))
  await page.locator('.due').getByText(/^(19|20) minutes left/).waitFor()
  await shop.wait(15)
  await page.clock.runFor(66_000)
  await page.locator('.due.warn').getByText(/^[34] minutes left/).waitFor()
  await close()
})

test.each([
  ['en-US', / (AM|PM)$/],
  ['en-GB', /before \d\d:\d\d$/],
  ['de-AT', /bis \d\d:\d\d/],
])('%s: times are written as there', async (locale, form) => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(at(made.id), { locale })
  await page.locator('.addr').waitFor()
  expect((await page.locator('.due b').textContent())?.replaceAll('\u202f', ' ')).toMatch(form)
  await close()
})

test('after the deadline the rest is not asked for, and its address is shown only to who wants it all the same', async () => {
  const made = await shop.invoice([BASE])
  await shop.pay(made.id, { amount: '40.50' })
  await shop.wait(61)
  const { page, close } = await visit(at(made.id))
  await page.getByText('What you send now is counted as late').waitFor()
  const said = (await page.locator('main').textContent()) ?? ''
  expect(said).not.toMatch(/complete once it arrives/)
  expect(await page.locator('.addr, .tile').count()).toBe(0)
  await look(page, 'partial-late')
  await page.getByRole('button', { name: 'Show the address all the same' }).click()
  expect(await page.locator('.addr').textContent()).toBe(made.payment_options[0]?.address)
  await look(page, 'partial-late-address')
  await close()
})

test('a page that comes back after its deadline shows no address, not even for a moment', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit('about:blank')
  // The page has settled once it fetches what it may need later.
  const settled = page.waitForRequest('**/later-*.js')
  await page.goto(at(made.id))
  await page.locator('.addr').waitFor()
  await settled
  // The clock went on while the page slept, and no timer rang: a day, since other tests moved the shop's clock by hours.
  const shown = await page.evaluate(async () => {
    const before = Date.now
    Date.now = () => before() + 24 * 60 * 60_000
    document.dispatchEvent(new Event('visibilitychange'))
    await new Promise(requestAnimationFrame)
    return document.querySelectorAll('.addr, .tile').length
  })
  expect(shown).toBe(0)
  await close()
})

test('a rest that comes after the deadline is paid late', async () => {
  const made = await shop.invoice([BASE])
  await shop.pay(made.id, { amount: '40.50' })
  await shop.wait(61)
  await shop.pay(made.id, { amount: '7.50' })
  const { page, close } = await visit(at(made.id))
  await heading(page, 'Paid after the deadline').waitFor()
  await look(page, 'paid-late')
  await close()
})

test('a link’s invoice wants a network first, and starts anew when that time is over', async () => {
  const link = await shop.call<{ url: string; slug: string }>('POST', '/v1/payment_links', { amount_type: 'fixed', amount: '25.00', currency: 'USD' })
  const { page, close } = await visit(`${shop.pages}/l/${link.slug}`)
  await page.getByRole('button', { name: 'Pay $25.00' }).click()
  await heading(page, 'Choose how to pay').waitFor()
  expect(await page.locator('.due').textContent()).toContain('Choose before')
  await shop.wait(31)
  await heading(page, 'Time is over').waitFor()
  // Nobody saw an address.
  await page.getByText('there is no address to send to').first().waitFor()
  expect(await page.locator('main').textContent()).not.toContain('you saw here')
  await page.getByRole('button', { name: 'Start a new payment' }).click()
  await heading(page, 'Pay Northwind Books').waitFor()
  expectCalm(page)
  await close()
})
