// A server that lies: whatever it changes, no address is shown.

import type { Page, Route } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { ALL, BASE, BITCOIN, openShop, TRON } from './shop.ts'
import { heading, look, visit } from './visit.ts'

const shop = await openShop()
const at = (id: string) => `${shop.pages}/i/${id}`
const OTHER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

interface Answer {
  payment_options: { asset: string; network: string; address: string; address_derivation: Record<string, string> }[]
  [field: string]: unknown
}

/** Changes what the server answers on its way to the page. */
function lying(change: (answer: Answer) => void) {
  return async (route: Route) => {
    const response = await route.fetch()
    const answer = (await response.json()) as Answer
    change(answer)
    await route.fulfill({ response, json: answer })
  }
}

async function expectNothingToPay(page: Page): Promise<void> {
  await heading(page, 'This page cannot be trusted').waitFor()
  expect(await page.locator('.tile').count()).toBe(0)
  expect(await page.content()).not.toMatch(/0x[0-9a-fA-F]{40}|tb1q|T[1-9A-HJ-NP-Za-km-z]{33}/)
}

const first = (answer: Answer) => answer.payment_options[0] as Answer['payment_options'][0]
const LIES: [string, (answer: Answer) => void][] = [
  ['another address', (answer) => (first(answer).address = OTHER)],
  ['another destination', (answer) => (first(answer).address_derivation.destination = OTHER)],
  ['another salt', (answer) => (first(answer).address_derivation.salt = `0x${'11'.repeat(32)}`)],
  ['another factory', (answer) => (first(answer).address_derivation.factory = OTHER)],
  ['no derivation', (answer) => ((first(answer) as Record<string, unknown>).address_derivation = null)],
  ['one letter in another case', (answer) => (first(answer).address = first(answer).address.toLowerCase())],
]

test.each(LIES)('%s', async (name, lie) => {
  const made = await shop.invoice([BASE])
  const { page, context, close } = await visit('about:blank')
  await context.route('**/v1/checkout/invoices/*', lying(lie))
  await page.goto(at(made.id))
  await expectNothingToPay(page)
  expect(await page.locator('.addr.one').textContent()).toBe(made.id)
  if (name === 'another address') await look(page, 'mismatch')
  await close()
})

describe('what was once believed', () => {
  test('is taken back when a later answer differs, and not believed again', async () => {
    const made = await shop.invoice([BASE])
    const { page, context, close } = await visit(at(made.id))
    await page.locator('.addr').waitFor()
    const refresh = () => page.evaluate(() => dispatchEvent(new Event('online')))
    await context.route('**/v1/checkout/invoices/*', lying((answer) => (first(answer).address = OTHER)))
    await refresh()
    await expectNothingToPay(page)
    await context.unroute('**/v1/checkout/invoices/*')
    const answered = page.waitForResponse('**/v1/checkout/invoices/*')
    await refresh()
    await (await answered).finished()
    await expectNothingToPay(page)
    await close()
  })
})

test('a key of another merchant does not turn the page into that merchant’s', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(`${at(made.id)}?key=till_test_pk_somebodyelse`)
  await page.locator('.addr').waitFor()
  await close()
})

test('a network without a pin is not offered, and the page says that something is missing', async () => {
  const { destinations } = shop.config as unknown as { destinations: Record<string, string> }
  const made = await shop.invoice([BASE, TRON])
  shop.config.destinations = { eip155: destinations.eip155 }
  try {
    const { page, close } = await visit(at(made.id))
    await page.getByText('Some ways to pay are not shown').waitFor()
    expect(await page.getByRole('radio', { name: 'USDT' }).count()).toBe(0)
    await look(page, 'pick-hidden')
    await close()

    shop.config.destinations = {}
    const none = await visit(at(made.id))
    await none.page.getByText('This page has no way to check').waitFor()
    expect(await none.page.locator('.tile').count()).toBe(0)
    await look(none.page, 'unpinned')
    await none.close()
  } finally {
    shop.config.destinations = destinations
  }
})

test('text from the server stays text', async () => {
  const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>{{x}} javascript:alert(3)'
  const made = await shop.call<{ id: string }>('POST', '/v1/invoices', { amount: '1.00', currency: 'USD', description: evil, assets: [BITCOIN] })
  const { page, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  expect(await page.locator('.what .dim').textContent()).toBe(evil)
  expect(await page.locator('.what img, .what script').count()).toBe(0)
  await look(page, 'long-text')
  await close()
})

test('every address that is offered is shown as it was computed', async () => {
  const made = await shop.invoice(ALL)
  for (const option of made.payment_options) {
    const { page, close } = await visit('about:blank')
    await page.goto(shop.pages)
    await page.evaluate(([id, asset]) => sessionStorage.setItem(`till.way.${id}`, asset as string), [made.id, option.asset])
    await page.goto(at(made.id))
    await page.locator('.addr').waitFor()
    expect(await page.locator('.addr').textContent()).toBe(option.address)
    await close()
  }
})
