// Every piece of code in README.md, run as it stands there.

import { readdirSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { order, till } from './shop.ts'

const said: string[] = []
vi.spyOn(console, 'log').mockImplementation((...words: unknown[]) => {
  said.push(words.join(' '))
})
const run = (name: string) => import(/* @vite-ignore */ `./snippets/${name}.ts`)

test('there is a test for each piece', () => {
  expect(readdirSync(new URL('snippets', import.meta.url))).toHaveLength(5)
})

test('the first makes an invoice', async () => {
  await run('1')
  expect(said.at(-1)).toMatch(/\/checkout\/i\/inv_/)
})

test('the second takes a webhook', async () => {
  process.env.PORT = '0'
  const { server } = await run('2')
  await new Promise((ready) => (server.listening ? ready(null) : server.once('listening', ready)))
  await till.merchant.updateSettings({ webhook_url: `http://127.0.0.1:${server.address().port}/` })
  const invoice = await order()
  await till.testHelpers.simulatePayment(invoice.id)
  await vi.waitFor(() => expect(said).toContain(`${invoice.id} is paid`), 20_000)
  const forged = await fetch(`http://127.0.0.1:${server.address().port}/`, { method: 'POST', body: '{}' })
  expect(forged.status).toBe(400)
  await till.merchant.updateSettings({ webhook_url: null })
  server.closeAllConnections()
  server.close()
})

test('the others list, branch on a code, and follow an invoice', async () => {
  await run('3')
  expect(said.some((line) => /^inv_\w+ \w+$/.test(line))).toBe(true)
  await run('4')
  expect(said).toContain('it was paid meanwhile')
  await run('5')
  expect(said).toContain('paid')
})
