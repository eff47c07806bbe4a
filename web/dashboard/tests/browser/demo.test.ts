// `till demo`: opens signed in, with data worth looking at.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { en } from '../../src/texts/en.ts'
import { TILL } from './server.ts'
import { heading, look, person } from './visit.ts'

const demo = spawn(TILL, ['demo', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'], env: { TILL_LOG: 'error' } })
afterAll(() => void demo.kill())
const dashboard = await new Promise<string>((found, failed) => {
  demo.on('error', failed)
  createInterface({ input: demo.stdout }).on('line', (line) => {
    const [, url] = /^\s*Dashboard\s+(\S+)/.exec(line) ?? []
    if (url) found(url)
  })
})

test('the demo is signed in and has a month to show', async () => {
  const visitor = await person()
  const { page } = visitor
  await page.goto(dashboard)
  await heading(page, 'Home').waitFor()
  await page.getByText('Received, last 30 days').waitFor()
  await page.locator('.xax').getByText('today').waitFor()
  // On a laptop's screen the whole menu is there without scrolling.
  expect(await page.locator('nav.side').first().evaluate((menu) => menu.scrollHeight - menu.clientHeight)).toBeLessThanOrEqual(0)
  await look(page, 'demo-home')
  await page.goto(`${dashboard}/test/invoices`)
  await page.getByRole('button', { name: 'Older' }).waitFor()
  await look(page, 'demo-invoices')
  await page.getByRole('button', { name: 'Older' }).click()
  await page.waitForURL(/cursor=/)
  await expect.poll(() => page.getByRole('row').count()).toBe(26)
  await visitor.close()
})

test('there is something of every kind to look at', { timeout: 120_000 }, async () => {
  const visitor = await person()
  const { page } = visitor
  for (const list of [...Object.keys(en.statuses).map((status) => `invoices?status=${status}`), 'links', 'refunds', 'refunds?status=sent', 'customers', 'plans', 'subscriptions', 'reviews', 'payments']) {
    await page.goto(`${dashboard}/test/${list}`)
    await page.locator('main tbody tr, main .need li').first().waitFor()
  }
  await visitor.close()
})

test('on a wall of 4K nothing is stretched, and nothing is small', async () => {
  const visitor = await person()
  const { page } = visitor
  await page.setViewportSize({ width: 3840, height: 2160 })
  await page.goto(`${dashboard}/test/invoices`)
  await page.getByRole('button', { name: 'Older' }).waitFor()
  const [size, wide] = await page.evaluate(() => [Number.parseFloat(getComputedStyle(document.documentElement).fontSize), document.querySelector('main table')?.getBoundingClientRect().width ?? 0])
  expect(size).toBe(19)
  expect(wide).toBeLessThanOrEqual(1536 * (size / 16))
  await page.screenshot({ path: fileURLToPath(new URL('../../shots/demo-invoices-3840-light.png', import.meta.url)) })
  await visitor.close()
})

test('a screen is fetched while the server says who is signed in', async () => {
  const visitor = await person()
  const { page } = visitor
  const fetched = page.waitForRequest(/assets\/invoices-/)
  await page.route('**/v1/dashboard/session', async (route) => {
    await fetched
    await route.continue()
  })
  await page.goto(`${dashboard}/test/invoices`)
  await heading(page, 'Invoices').waitFor()
  await visitor.close()
})
