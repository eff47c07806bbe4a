// The folder that `till checkout export` writes, on a host that knows nothing of it, beside a server that is no
// demonstration.

import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { afterAll, expect, test } from 'vitest'
import { files } from './host.ts'
import { BASE, type Made, TILL } from './shop.ts'
import { expectCalm, visit } from './visit.ts'

const folder = mkdtempSync(`${tmpdir()}/till-export-`)
/** What the server logs is read for where it listens. */
const env: Record<string, string> = { TILL_LOG: 'info' }
const till = (...args: string[]) => execFileSync(TILL, args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

const account = JSON.parse(till('account', 'create', '--name', 'Acme', '--json')) as {
  account: string
  test: { secret_key: string }
}
const server = spawn(TILL, ['serve', '--listen', '127.0.0.1:0'], { cwd: folder, env, stdio: ['ignore', 'inherit', 'pipe'] })
const api = await new Promise<string>((found, failed) => {
  createInterface(server.stderr).on('line', (line) => {
    const address = /listening on (http:\/\/[\w.:[\]-]+)/.exec(line)?.[1]
    if (address) found(address)
  })
  server.once('exit', (code) => failed(new Error(`${TILL} ended with ${code}`)))
})
env.TILL_SERVER_PUBLIC_URL = api
till('checkout', 'export', '--account', account.account, '--mode', 'test', '--to', 'pay')

/** A host for files: no header of ours, and 404.html for what it does not have. */
const host = createServer((request, response) => files(new URL(`file://${folder}/pay/`), request, response))
await new Promise<void>((ready) => host.listen(0, '127.0.0.1', ready))
const pages = `http://127.0.0.1:${(host.address() as AddressInfo).port}`

afterAll(() => {
  server.removeAllListeners('exit')
  server.kill()
  host.closeAllConnections()
  host.close()
  rmSync(folder, { recursive: true })
})

test('an exported folder shows a checked address, says nothing of who hosts it, and takes no test money', async () => {
  const response = await fetch(`${api}/v1/invoices`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.test.secret_key}`, 'content-type': 'application/json', 'idempotency-key': 'one' },
    body: JSON.stringify({ amount: '48.00', currency: 'USD', assets: [BASE] }),
  })
  const made = (await response.json()) as Made
  const { page, close } = await visit(`${pages}/i/${made.id}`)
  await page.locator('.addr').waitFor()
  expect(await page.locator('.addr').textContent()).toBe(made.payment_options[0]?.address)
  expect(await page.getByText('comes from the payment server itself').count()).toBe(0)
  expect(await page.getByText('Pay with test money').count()).toBe(0)
  expectCalm(page)

  // Its own policy holds without a header: no foreign script, no text that becomes markup.
  const broken = await page.evaluate(() => {
    try {
      document.body.innerHTML = '<b>text</b>'
      return false
    } catch {
      return true
    }
  })
  expect(broken).toBe(true)
  await close()
})

test('in a frame an exported page shows only its way out, whatever headers its host sends', async () => {
  writeFileSync(`${folder}/pay/outer.html`, `<iframe src="${pages}/i/inv_1" width="600" height="800"></iframe>`)
  const { page, close } = await visit(`${pages}/outer.html`)
  const frame = page.frameLocator('iframe')
  await frame.getByRole('heading', { name: 'This page is inside another one' }).waitFor()
  const way = frame.getByRole('link', { name: 'Open this page' })
  expect([await way.getAttribute('href'), await way.getAttribute('target')]).toEqual([`${pages}/i/inv_1`, '_top'])
  await close()
})

test('without JavaScript an exported page says what it needs', async () => {
  const { page, close } = await visit(`${pages}/i/inv_1`, { javaScriptEnabled: false })
  const said = page.locator('noscript p')
  expect([await said.isVisible(), await said.textContent()]).toEqual([true, expect.stringContaining('needs JavaScript')])
  await close()
})
