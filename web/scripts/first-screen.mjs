// How long until the dashboard can be used: from the navigation to the moment when the list is there and answers to a key.
// Printed, never held against a limit: the figure is the machine's as much as the page's.
//
// `till demo` serves its several hundred invoices; each round is a new browser with nothing in its cache, signed in already.
// Usable is Home once what was received is drawn and `/` focuses the search, and Invoices once `j` focuses the first row.
//
//     TILL=target/release/till node web/scripts/first-screen.mjs

import { spawn } from 'node:child_process'
import { cpus, loadavg } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const ROUNDS = 9
const LONGEST_MS = 30_000
const TARGET = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../../target', import.meta.url))
const TILL = process.env.TILL ?? `${TARGET}/debug/till`
const executablePath = process.env.CHECKOUT_CHROMIUM ?? '/usr/bin/chromium'

const SCREENS = [
  { name: 'Home', path: '', shown: 'main .metrics', key: '/', focused: 'main [data-find]' },
  { name: 'Invoices', path: '/invoices', shown: 'main [data-row]', key: 'j', focused: 'main [data-row] a.cover' },
]

const demo = spawn(TILL, ['demo', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'], env: { TILL_LOG: 'error' } })
process.on('exit', () => demo.kill())

/** Until the demo says where its dashboard is. */
const dashboard = await new Promise((found, failed) => {
  demo.on('error', failed)
  demo.on('exit', () => failed(new Error(`${TILL} demo ended`)))
  createInterface({ input: demo.stdout }).on('line', (line) => {
    const [, url] = /^\s*Dashboard\s+(\S+)/.exec(line) ?? []
    if (url) found(url)
  })
})

/** Runs in the page, before its own scripts: each frame it looks, and presses the key once there is something to answer. */
function watch({ shown, key, focused }) {
  const look = () => {
    if (document.querySelector(shown)) {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
      if (document.activeElement?.matches(focused)) {
        window.usableMs = performance.now()
        return
      }
    }
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}

async function withBrowser(storageState, use) {
  const browser = await chromium.launch({ executablePath })
  try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...(storageState ? { storageState } : {}) })
    return await use(await context.newPage(), context)
  } finally {
    await browser.close()
  }
}

const signedIn = await withBrowser(null, async (page, context) => {
  await page.goto(dashboard)
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  return context.storageState()
})

/** Milliseconds from the start of the navigation, and how many bytes came over the wire until then. */
const measure = (screen) =>
  withBrowser(signedIn, async (page) => {
    await page.addInitScript(watch, screen)
    await page.goto(`${dashboard}/test${screen.path}`, { waitUntil: 'commit' })
    await page.waitForFunction(() => window.usableMs !== undefined, undefined, { timeout: LONGEST_MS })
    return page.evaluate(() => ({
      ms: window.usableMs,
      bytes: performance.getEntriesByType('resource').reduce((sum, one) => sum + one.transferSize, 0),
    }))
  })

const found = SCREENS.map(() => [])
for (let round = 0; round < ROUNDS; round++) for (const [at, screen] of SCREENS.entries()) found[at].push(await measure(screen))

console.log(`${TILL} demo, ${cpus().length} cores, load ${loadavg().map((one) => one.toFixed(1)).join(' ')}, ${ROUNDS} rounds`)
for (const [at, screen] of SCREENS.entries()) {
  const times = found[at].map(({ ms }) => Math.round(ms)).sort((a, b) => a - b)
  const [median, bytes] = [times[(ROUNDS - 1) / 2], Math.max(...found[at].map((one) => one.bytes))]
  console.log(`${screen.name}: usable after ${median} ms (from ${times[0]} to ${times.at(-1)}), ${Math.round(bytes / 1024)} KB fetched`)
}
process.exit(0)
