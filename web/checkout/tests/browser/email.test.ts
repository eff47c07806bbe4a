// A receipt by e-mail, through a real mail server.

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { BASE, openShop } from './shop.ts'
import { heading, look, visit } from './visit.ts'

const smtp = process.env.TILL_TEST_SMTP
const folder = process.env.TILL_TEST_SMTP_DIR
if (!smtp && process.env.TILL_REQUIRE_SMTP === '1') throw new Error('TILL_REQUIRE_SMTP is 1 but TILL_TEST_SMTP names no server')

const shop = await openShop(smtp ? { TILL_MAIL_SMTP_URL: smtp, TILL_MAIL_FROM: 'till@shop.example' } : {})

/** What arrived for an address. */
const mailsTo = (address: string) =>
  readdirSync(folder as string)
    .map((name) => readFileSync(`${folder}/${name}`, 'utf8'))
    .filter((mail) => mail.includes(address))

describe.skipIf(!smtp)('with a mail server', () => {
  test('a payer leaves an address and gets the receipt in their language', async () => {
    const made = await shop.invoice([BASE])
    await shop.pay(made.id, { finality_steps: ['included'] })
    const { page, close } = await visit(`${shop.pages}/i/${made.id}?lang=de`)
    const field = page.getByLabel('Beleg per E-Mail senden')
    await field.fill('nobody')
    await page.getByRole('button', { name: 'Senden' }).click()
    await page.getByText('Das ist keine E-Mail-Adresse.').waitFor()
    await field.fill(`payer-${made.id}@example.com`)
    await page.getByRole('button', { name: 'Senden' }).click()
    // Masked: whoever looks over the shoulder does not learn it.
    await page.getByText('sobald die Zahlung endgültig ist').waitFor()
    expect(await page.locator('main').textContent()).not.toContain(`payer-${made.id}`)
    await look(page, 'email-left')

    const other = await visit(`${shop.pages}/i/${made.id}`)
    await other.page.getByLabel('E-mail me the receipt').fill('other@example.com')
    await other.page.getByRole('button', { name: 'Send' }).click()
    await other.page.getByText('Another visitor already left an address').waitFor()
    await other.close()

    expect(mailsTo(made.id)).toEqual([])
    await shop.pay(made.id)
    await heading(page, 'Bezahlt').waitFor()
    await expect.poll(() => mailsTo(`payer-${made.id}@example.com`).length, { timeout: 15_000 }).toBe(1)
    await close()
  })

  test('a receipt that is asked for after paying is sent at once', async () => {
    const made = await shop.invoice([BASE])
    await shop.pay(made.id)
    const { page, close } = await visit(`${shop.pages}/i/${made.id}`)
    await page.getByLabel('E-mail me the receipt').fill(`late-${made.id}@example.com`)
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText(/The receipt (goes|went) to/).waitFor()
    await expect.poll(() => mailsTo(`late-${made.id}@example.com`).length, { timeout: 15_000 }).toBe(1)
    await close()
  })
})
