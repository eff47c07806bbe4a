// Passkeys, codes from an app, sessions and sign-ins of one's own.

import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { OWNER, startTill } from './server.ts'
import { arrive, expectCalm, heading, look, person } from './visit.ts'

const server = await startTill()

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The code that an authenticator app shows now. */
function codeOf(secret: string): string {
  let bits = ''
  for (const letter of secret) bits += ALPHABET.indexOf(letter).toString(2).padStart(5, '0')
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const step = Buffer.alloc(8)
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)))
  const hash = createHmac('sha1', key).update(step).digest()
  const at = (hash[19] as number) & 15
  return String((hash.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

test('a passkey is renamed, codes are set up, another browser is signed out', { timeout: 180_000 }, async () => {
  const owner = await person()
  await arrive(owner, server)
  const { page } = owner
  await page.goto(`${server.origin}/dashboard/test/security`)
  await heading(page, 'Security').waitFor()
  await page.getByText('You have one.').waitFor()
  await page.getByRole('button', { name: 'Rename This device' }).click()
  const dialog = page.locator('dialog.modal').first()
  await dialog.getByLabel('Name').fill('Work laptop')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Work laptop', { exact: true }).waitFor()

  await page.getByLabel('Name (optional)').fill('Ada')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()

  await page.getByRole('button', { name: 'Set up codes' }).click()
  await page.getByRole('button', { name: 'Use passkey' }).click()
  const secret = await page.locator('code.one').innerText()
  await look(page, 'security-codes')
  await page.getByLabel('Code from your app').fill('000000')
  await page.getByRole('button', { name: 'Switch on' }).click()
  await page.locator('.err').waitFor()
  await page.getByLabel('Code from your app').fill(codeOf(secret))
  await page.getByRole('button', { name: 'Switch on' }).click()
  await page.getByRole('button', { name: 'Switch off' }).waitFor()
  expect(await page.content()).not.toContain(secret)

  // A second browser comes in by link and code; the first one ends its session.
  const { link } = JSON.parse(await server.till('user', 'link', '--email', OWNER, '--json')) as { link: string }
  const other = await person()
  await other.page.goto(link)
  await heading(other.page, 'One more step').waitFor()
  // The code that switched codes on is used up.
  await expect
    .poll(
      async () => {
        await other.page.getByLabel('Code from your app').fill(codeOf(secret))
        await other.page.keyboard.press('Enter')
        return heading(other.page, 'Home').waitFor({ timeout: 3_000 }).then(
          () => true,
          () => false,
        )
      },
      { timeout: 60_000, interval: 12_000 },
    )
    .toBe(true)

  await page.reload()
  await page.getByText('Signed in by link and code').waitFor()
  await look(page, 'security')
  await page.getByRole('button', { name: 'Sign out all others' }).click()
  await dialog.getByRole('button', { name: 'Sign out all others' }).click()
  await page.getByText('1 session is signed out').waitFor()
  await other.page.goto(`${server.origin}/dashboard/test`)
  await heading(other.page, 'Sign in').waitFor()
  await other.close()

  await page.getByRole('button', { name: 'Switch off' }).click()
  await dialog.getByRole('button', { name: 'Switch off' }).click()
  await page.getByRole('button', { name: 'Use passkey' }).click()
  await page.getByRole('button', { name: 'Set up codes' }).waitFor()

  await page.getByRole('listitem').filter({ hasText: 'Work laptop' }).getByRole('button', { name: 'Remove' }).click()
  await dialog.getByText('It is your only one.').waitFor()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Use passkey' }).click()
  await page.getByText('You have no passkey.', { exact: true }).waitFor()
  expectCalm(page)
  await owner.close()
})
