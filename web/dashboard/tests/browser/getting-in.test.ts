// Ways in besides the first run: mailed links, codes, a session that ends over a form, a second organisation.

import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { OWNER, startTill } from './server.ts'
import { expectCalm, heading, look, type Person, person } from './visit.ts'

const smtp = process.env.TILL_TEST_SMTP
const mails = process.env.TILL_TEST_SMTP_DIR
const server = await startTill(smtp ? `[mail]\nsmtp_url = "${smtp}"\nfrom = "till@example.com"\n` : '')

const linkFor = async (email: string) => (JSON.parse(await server.till('user', 'link', '--email', email, '--json')) as { link: string }).link
const inviteFor = async (email: string, role = 'owner') =>
  (JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', email, '--role', role, '--json')) as { link: string }).link

/** Accepts an invitation, and leaves the passkey for later. */
async function enterBy({ page }: Person, link: string): Promise<void> {
  await page.goto(link)
  await page.getByRole('button', { name: 'Accept the invitation' }).click()
  await page.getByRole('link', { name: 'Later' }).click()
  await heading(page, 'Home').waitFor()
}

/** Asks the API as the page's user. */
function ask(page: Page, path: string, body?: object): Promise<Record<string, string>> {
  return page.evaluate(
    async ([at, sent]) => {
      const session = (await (await fetch('/v1/dashboard/session')).json()) as { csrf_token: string }
      const headers = { 'till-csrf': session.csrf_token, 'idempotency-key': crypto.randomUUID(), 'content-type': 'application/json' }
      return (await (await fetch(at as string, { method: 'POST', headers, ...(sent ? { body: JSON.stringify(sent) } : {}) })).json()) as Record<string, string>
    },
    [path, body] as const,
  )
}

/** An authenticator's code; each step works once, and one to either side of now is taken. */
function code(secret: string, step: -1 | 0 | 1): string {
  const bits = [...secret.replace(/=+$/, '')].map((sign) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(sign).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [])
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + step))
  const hash = createHmac('sha1', key).update(counter).digest()
  const at = (hash.at(-1) ?? 0) & 15
  return String((hash.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/** The newest mail's link to this server. */
function mailed(): string | undefined {
  const texts = readdirSync(mails as string).map((name) => readFileSync(join(mails as string, name), 'utf8').replace(/=\r?\n/g, '').replace(/=3D/g, '='))
  return texts.map((mail) => /http:\S+#sign_in=[\w-]+/.exec(mail)?.[0]).find((link) => link?.startsWith(server.origin))
}

async function fillInvoice(page: Page): Promise<void> {
  await page.goto(`${server.origin}/dashboard/test/invoices/new`)
  await page.getByLabel('Amount').fill('75.00')
  await page.getByLabel('For').fill('Typed before the session ended')
}

test.runIf(smtp)('a mailed link signs in the browser that asked for it', async () => {
  const somebody = await person()
  await enterBy(somebody, await inviteFor('mail@example.com'))
  const { page } = somebody
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('E-mail address').fill('mail@example.com')
  await page.getByRole('button', { name: 'Mail me a link' }).click()
  await page.getByText('A link is on its way').last().waitFor()
  await look(page, 'link-sent')
  await expect.poll(mailed, { timeout: 10_000 }).toBeTruthy()
  await page.goto(mailed() as string)
  await heading(page, /Home|Register a passkey/).waitFor()
  expectCalm(page)
  await somebody.close()
})

test('codes: a second factor at the door, and over a form whose session has ended', async () => {
  const somebody = await person()
  await enterBy(somebody, await inviteFor('codes@example.com'))
  const { page, context } = somebody
  const { secret } = await ask(page, '/v1/dashboard/totp/setup')
  await ask(page, '/v1/dashboard/totp/confirm', { code: code(secret as string, -1) })
  await page.getByRole('button', { name: 'Sign out' }).click()
  await heading(page, 'Sign in').waitFor()
  await page.goto(await linkFor('codes@example.com'))
  await heading(page, 'One more step').waitFor()
  await page.getByLabel('Code from your app').fill('000000')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.locator('[name="code"][aria-invalid="true"]').waitFor()
  await page.getByLabel('Code from your app').fill(code(secret as string, 0))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL(/\/test/)

  await fillInvoice(page)
  await context.clearCookies()
  await page.getByRole('button', { name: 'Make the invoice' }).click()
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor()
  await look(page, 'session-ended')
  const other = await context.newPage()
  await other.goto(await linkFor('codes@example.com'))
  await heading(other, 'One more step').waitFor()
  await page.getByRole('button', { name: 'I have signed in' }).click()
  await page.getByLabel('Code from your app').fill(code(secret as string, 1))
  await look(page, 'session-ended-code')
  await page.getByRole('button', { name: 'Continue' }).click()
  await heading(page, /75\.00 USD/).waitFor()
  await page.getByText('Typed before the session ended').waitFor()
  await somebody.close()
})

test('a session that ends over a form: the passkey goes on where it was', async () => {
  const owner = await person()
  const { page, context } = owner
  await page.goto(server.link)
  await page.getByRole('button', { name: 'Accept the invitation' }).click()
  await page.getByRole('button', { name: 'Register a passkey' }).click()
  await heading(page, 'Home').waitFor()
  await fillInvoice(page)
  await context.clearCookies()
  await page.getByRole('button', { name: 'Make the invoice' }).click()
  await page.getByRole('button', { name: 'Sign in with passkey' }).click()
  await heading(page, /75\.00 USD/).waitFor()

  // A second organisation of the same person: the invitation is accepted where one is signed in, and the list changes between them.
  const { dashboard_link } = JSON.parse(await server.till('account', 'create', '--name', 'Second shop', '--owner', OWNER, '--json')) as { dashboard_link: string }
  await page.goto(dashboard_link)
  await page.getByRole('button', { name: 'Accept the invitation' }).click()
  await heading(page, 'Home').waitFor()
  await page.getByText('No invoices yet.').waitFor()
  await look(page, 'organisations')
  await page.getByRole('combobox', { name: 'Organisations' }).first().selectOption({ label: 'Northwind Books' })
  await page.getByRole('link', { name: /75\.00/ }).first().waitFor()
  await owner.close()
})

test('who is known and has no passkey accepts an invitation by a link in another tab', async () => {
  const first = await person()
  await enterBy(first, await inviteFor('plain@example.com'))
  await first.close()
  const { account } = JSON.parse(await server.till('account', 'create', '--name', 'Third shop', '--json')) as { account: string }
  const { link } = JSON.parse(await server.till('account', 'invite', '--account', account, '--email', 'plain@example.com', '--role', 'viewer', '--json')) as { link: string }
  const somebody = await person()
  const { page, context } = somebody
  await page.goto(link)
  await page.getByText('There is an account for plain@example.com already').waitFor()
  await look(page, 'invite-known')
  const other = await context.newPage()
  await other.goto(await linkFor('plain@example.com'))
  await heading(other, /Home|Register a passkey/).waitFor()
  await page.getByRole('button', { name: 'I have signed in' }).click()
  await page.getByRole('button', { name: 'Accept the invitation' }).click()
  await page.getByText('Third shop').first().waitFor()
  expectCalm(page)
  await somebody.close()
})
