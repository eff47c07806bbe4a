// What a payer with a phone, a payer who listens, and a payer of a shop whose server was broken into get.

import { expect, test } from 'vitest'
import { BASE, BITCOIN, openShop, TRON } from './shop.ts'
import { cutOff, heading, look, shotPath, visit } from './visit.ts'

const shop = await openShop()
const at = (id: string, query = '') => `${shop.pages}/i/${id}${query}`
const PHONE = { hasTouch: true, isMobile: true }

test('on a phone the wallet comes first, with the links that wallets have of their own', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(at(made.id), PHONE)
  const open = page.getByRole('button', { name: 'Open in wallet' })
  await open.waitFor()
  const below = await page.getByRole('button', { name: 'Copy address' }).boundingBox()
  expect((await open.boundingBox())?.y).toBeLessThan(below?.y ?? 0)
  // The address, too, is read before it is needed: one look away.
  expect(await page.locator('.addr').textContent()).toBe(made.payment_options[0]?.address)
  await open.tap()
  const transfer = `0x036CbD53842c5426634e7929541eC2318f3dCF7e@84532/transfer?address=${made.payment_options[0]?.address}&uint256=48000000`
  expect(await page.getByRole('link', { name: 'MetaMask' }).getAttribute('href')).toBe(`https://link.metamask.io/send/${transfer}`)
  expect(await page.getByRole('link', { name: 'Another wallet' }).getAttribute('href')).toBe(`ethereum:${transfer}`)
  await page.getByText('Compare amount, network and address there').waitFor()
  await look(page, 'touch-apps')
  await page.getByText('Details').tap()
  await page.getByText('Never send to it').waitFor()
  // Once is enough.
  expect(await page.getByText('Open in wallet').count()).toBe(1)
  await close()
})

test('on a phone Bitcoin opens in the wallet that the phone knows', async () => {
  const made = await shop.invoice([BITCOIN])
  const { page, close } = await visit(at(made.id), PHONE)
  const open = page.getByRole('link', { name: 'Open in wallet' })
  await open.waitFor()
  const [option] = made.payment_options
  expect(await open.getAttribute('href')).toBe(`bitcoin:${option?.address}?amount=${option?.amount_due}`)
  const below = await page.getByRole('button', { name: 'Copy address' }).boundingBox()
  expect((await open.boundingBox())?.y).toBeLessThan(below?.y ?? 0)
  await look(page, 'touch-bitcoin')
  await close()
})

test('where no wallet has a link, none is offered', async () => {
  const made = await shop.invoice([TRON])
  const { page, close } = await visit(at(made.id), PHONE)
  await page.locator('.addr').waitFor()
  expect(await page.getByText('Open in wallet').count()).toBe(0)
  await close()
})

test('with a mouse the address comes first', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  expect(await page.getByText('Open in wallet').count()).toBe(0)
  await close()
})

test('a warning that is over is not there to be heard any more', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(at(made.id))
  await page.locator('.addr').waitFor()
  await shop.pay(made.id, { amount: '40.50' })
  await expect.poll(() => page.getByRole('alert').allTextContents()).toEqual(['Still to send, exactly 7.50 USDC'])
  await shop.pay(made.id, { amount: '7.50' })
  await heading(page, 'Paid').waitFor()
  await expect.poll(() => page.getByRole('status').allTextContents()).toContain('Paid')
  expect(await page.getByRole('alert').allTextContents()).toEqual([''])
  await close()
})

test('text of twice the size is cut off nowhere', async () => {
  const made = await shop.invoice([BASE, TRON, BITCOIN])
  const { page, close } = await visit(at(made.id))
  await heading(page, 'Choose how to pay').waitFor()
  const fits = async (name: string) => {
    for (const size of [{ width: 1280, height: 800 }, { width: 390, height: 844 }]) {
      await page.setViewportSize(size)
      expect.soft(await cutOff(page), `${name} at ${size.width}`).toEqual([])
      await page.screenshot({ path: shotPath(`twice-${name}-${size.width}`), fullPage: true })
    }
  }
  await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'))
  await fits('pick')
  await page.getByRole('radio', { name: 'BTC' }).check()
  await page.locator('button[type=submit]').click()
  await page.locator('.addr').waitFor()
  await page.getByText(/^The amount is fixed until .*Rate at .*: 1 BTC = \$[\d,.]+$/).waitFor()
  await fits('bitcoin')
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await page.getByRole('radio', { name: 'USDC' }).check()
  await page.locator('button[type=submit]').click()
  await page.locator('.addr').waitFor()
  await fits('pay')
  await shop.pay(made.id, { asset: BASE, amount: '40.50' })
  await page.locator('.got').waitFor()
  await fits('part')
  await shop.pay(made.id, { asset: BASE, amount: '7.50' })
  await heading(page, 'Paid').waitFor()
  await fits('paid')
  await close()
})

const THEIRS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

test('an address in a description is not shown beside the one that was computed', async () => {
  const made = await shop.invoice([BASE])
  const { page, context, close } = await visit('about:blank')
  await context.route('**/v1/checkout/invoices/*', async (route) => {
    const response = await route.fetch()
    const json = (await response.json()) as object
    const description = `New address! Send to ${THEIRS.replace(/.{6}/g, '$& ')}`
    await route.fulfill({ response, json: { ...json, description, merchant: { display_name: `Northwind ${THEIRS}` } } })
  })
  await page.goto(at(made.id))
  await page.locator('.addr').waitFor()
  await page.getByText('New address! Send to […]').waitFor()
  await page.locator('.note').getByText('Something that looks like an address was left out').waitFor()
  expect(await page.locator('.addr').textContent()).toBe(made.payment_options[0]?.address)
  await look(page, 'left-out')
  await shop.pay(made.id)
  await heading(page, 'Paid').waitFor()
  const all = await page.content()
  expect([all.includes('5aAeb6'), all.includes('053F3E')]).toEqual([false, false])
  await close()
})
