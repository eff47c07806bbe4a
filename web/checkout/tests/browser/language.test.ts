// Languages: all of them whole, two of them closely, one of those from the right.

import { expect, test } from 'vitest'
import { languages } from '../../src/words/words.ts'
import { ALL, BASE, openShop } from './shop.ts'
import { cutOff, heading, look, shotPath, visit } from './visit.ts'

const shop = await openShop()

test('German: chosen by the browser, and again by hand for good', async () => {
  const made = await shop.invoice(ALL)
  const { page, close } = await visit(`${shop.pages}/i/${made.id}`, { locale: 'de-DE' })
  await heading(page, 'Wie möchten Sie zahlen?').waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('de')
  await look(page, 'pick-de')
  await page.getByRole('button', { name: /48.00 USDC über Base Sepolia/ }).click()
  // Amounts stay as they are to be typed, whatever the language does with numbers.
  await page.getByText('48,00 $').first().waitFor()
  expect(await page.locator('.money').first().textContent()).toContain('48.00')
  await look(page, 'pay-de')

  await page.getByLabel('Sprache').selectOption('vi')
  await page.getByText('Gửi đúng').waitFor()
  await page.reload()
  await page.getByText('Gửi đúng').waitFor()
  await close()
})

test('Arabic: from the right, with amounts and addresses from the left', async () => {
  const made = await shop.invoice(ALL)
  const { page, close } = await visit(`${shop.pages}/i/${made.id}?lang=ar`)
  await heading(page, 'اختر طريقة الدفع').waitFor()
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl')
  await look(page, 'pick-ar')
  await page.locator('button[type=submit]').click()
  await page.locator('.addr').waitFor()
  const sides = await page.evaluate(() => {
    const box = (selector: string) => document.querySelector(selector)?.getBoundingClientRect() as DOMRect
    return { amount: box('.money').x, copy: box('.amount .btn').x, direction: getComputedStyle(document.querySelector('.addr') as Element).direction }
  })
  expect(sides.amount).toBeGreaterThan(sides.copy)
  expect(sides.direction).toBe('ltr')
  expect(await page.locator('main').textContent()).not.toMatch(/[٠-٩۰-۹]/)
  await look(page, 'pay-ar')
  await shop.pay(made.id, { asset: BASE, amount: '40.50' })
  await page.locator('.got').waitFor()
  await look(page, 'partial-ar')
  await close()
})

test('every language fits a small phone, and says nothing that is no word', async () => {
  const made = await shop.invoice(ALL)
  const { page, close } = await visit('about:blank', { viewport: { width: 320, height: 640 } })
  for (const [code] of languages) {
    await page.goto(`${shop.pages}/i/${made.id}?lang=${code}`)
    await page.locator(`html[lang="${code}"] h1`).waitFor()
    await page.locator('button[type=submit]').click()
    await page.locator('.addr').waitFor()
    const text = (await page.locator('body').textContent()) ?? ''
    expect(text, code).not.toMatch(/\b(pay|help|link|refund)\.[a-z_]+|\{\w+\}|\*/)
    expect(await cutOff(page), code).toEqual([])
    await page.screenshot({ path: shotPath(`language-${code}`), fullPage: true })
    await page.evaluate(() => sessionStorage.clear())
  }
  await close()
})

test('dark: the same page at night, with a light tile for the code', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(`${shop.pages}/i/${made.id}`, { colorScheme: 'dark', reducedMotion: 'reduce' })
  await page.locator('.addr').waitFor()
  expect(await page.evaluate(() => getComputedStyle(document.querySelector('.tile') as Element).backgroundColor)).toBe('rgb(255, 255, 255)')
  // Nothing moves for who asked for that.
  const moving = await page.evaluate(() => document.getAnimations().length)
  const durations = await page.evaluate(() => [...new Set([...document.querySelectorAll('*')].map((one) => getComputedStyle(one).transitionDuration))])
  expect([moving, durations]).toEqual([0, ['0s']])
  await look(page, 'pay-dark')
  await shop.pay(made.id)
  await heading(page, 'Paid').waitFor()
  await look(page, 'paid-dark')
  await close()
})

test('a pale colour keeps its edge and its contrast', async () => {
  const accent = shop.config.accent
  shop.config.accent = '#ffd400'
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(`${shop.pages}/i/${made.id}`)
  await page.locator('.addr').waitFor()
  await look(page, 'pay-pale')
  await close()
  shop.config.accent = accent
})
