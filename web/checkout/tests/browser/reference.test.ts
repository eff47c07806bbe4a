// The API reference, as a server shows it to who builds on it.

import { expect, test } from 'vitest'
import { openShop } from './shop.ts'
import { expectCalm, visit } from './visit.ts'

const shop = await openShop()
const REFERENCE = `${shop.base_url}/docs/api`

test('it fits on a narrow screen, and asks nobody else', async () => {
  const { page, close } = await visit(REFERENCE, { viewport: { width: 360, height: 740 } })
  await page.getByRole('heading', { name: 'Create an invoice', exact: true }).waitFor()
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(sideways).toBe(0)
  expectCalm(page)
  await close()
})

test('its search finds endpoints, limits, codes and events', async () => {
  const { page, close } = await visit(REFERENCE)
  const find = async (words: string) => {
    await page.getByLabel('Search this page').fill(words)
    return page.locator('#search-found a').allTextContents()
  }
  expect(await find('create an invoice')).toContain('Create an invoice')
  expect(await find('limits')).toContain('Limits')
  expect(await find('rate_limited')).toContain('Codes')
  expect(await find('subscription.past_due')).toContain('Events')
  expect(await find('Retry-After')).toContain('Codes')
  // Neither the list of contents nor a chapter that has only other chapters in it.
  expect(await find('invoice')).not.toEqual(expect.arrayContaining(['Contents']))
  expect(await find('objects')).not.toContain('Objects')
  expect(await find('no such words at all')).toEqual([])
  await page.getByText('Nothing on this page has all of these words.').waitFor()
  await find('limits')
  await page.getByRole('link', { name: 'Limits', exact: true }).first().click()
  expect(new URL(page.url()).hash).toBe('#limits')
  expectCalm(page)
  await close()
})

test('without scripts every chapter is there, and no search that would do nothing', async () => {
  const { page, close } = await visit(REFERENCE, { javaScriptEnabled: false })
  for (const chapter of ['chapter-invoices', 'events', 'objects', 'limits', 'codes']) {
    await page.locator(`h2#${chapter}`).waitFor()
  }
  expect(await page.locator('#search').isVisible()).toBe(false)
  await close()
})

test('on paper there is the text, without navigation and search', async () => {
  const { page, close } = await visit(REFERENCE)
  await page.locator('#search').waitFor()
  await page.emulateMedia({ media: 'print' })
  expect(await page.locator('#search').isVisible()).toBe(false)
  expect(await page.locator('nav').isVisible()).toBe(false)
  await page.getByRole('heading', { name: 'Limits', exact: true }).waitFor()
  await close()
})
