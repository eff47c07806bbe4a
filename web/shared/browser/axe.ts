// What axe finds wrong with a page.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Each violation with the elements that have it; none on a page that is accessible as far as axe can tell. */
export async function violations(page: Page): Promise<string[]> {
  // Through the debugger, since the page's own policy lets no foreign script in. The connection is left open: closing it
  // would take the page's virtual authenticator away.
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: axe })
  const expression = `axe.run({ runOnly: ${JSON.stringify(TAGS)} }).then((r) => JSON.stringify(r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html).join(' | '))))`
  const answer = await session.send('Runtime.evaluate', { expression, awaitPromise: true })
  return JSON.parse(String(answer.result.value)) as string[]
}
