// A person with a browser and a device that keeps passkeys.

import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { expect, inject } from 'vitest'
import { violations } from '#shared/browser/axe.ts'
import type { Server } from './server.ts'

let browser: Promise<Browser> | undefined
const connected = () => (browser ??= chromium.connect(inject('browser')))

/** Build output: looked at by people, not kept. */
const SHOTS = new URL('../../shots/', import.meta.url)

const DESKTOP = { width: 1440, height: 900 }
const PHONE = { width: 360, height: 740 }

export interface Person {
  page: Page
  context: BrowserContext
  close: () => Promise<void>
}

/** What a page must never do: throw, break its own policy, or ask a third party. */
const complaints = new WeakMap<Page, string[]>()

/** Opens a browser of its own. Its device answers passkey questions by itself, as a finger would. */
export async function person(): Promise<Person> {
  const context = await (await connected()).newContext({ viewport: DESKTOP, locale: 'en-GB', timezoneId: 'UTC' })
  const page = await context.newPage()
  const found: string[] = []
  complaints.set(page, found)
  page.on('pageerror', (error) => found.push(String(error)))
  page.on('console', (message) => {
    const text = message.text()
    // A refused request is the page's business, and it shows what became of it.
    if (message.type() === 'error' && !/Failed to load resource|net::ERR/.test(text)) found.push(text)
  })
  page.on('request', (request) => {
    if (!/^http:\/\/localhost:|^data:|^blob:/.test(request.url())) found.push(`asked ${request.url()}`)
  })
  page.setDefaultTimeout(15_000)
  const device = await context.newCDPSession(page)
  await device.send('WebAuthn.enable', { enableUI: false })
  await device.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  })
  return { page, context, close: () => context.close() }
}

/** Nothing went wrong so far. */
export function expectCalm(page: Page): void {
  expect(complaints.get(page)).toEqual([])
}

/** Opens the owner's invitation, accepts it and registers a passkey: the first run. */
export async function arrive({ page }: Person, server: Server): Promise<void> {
  await page.goto(server.link)
  await page.getByRole('button', { name: 'Accept the invitation' }).click()
  await page.getByRole('button', { name: 'Register a passkey' }).click()
  await heading(page, 'Home').waitFor()
}

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name })

/** What stands beyond the edge of the window and cannot be scrolled to: a card cuts it off without a scroll bar. */
const cutOff = (page: Page) =>
  page.evaluate(() => {
    const scrolls = (element: Element | null): boolean => element !== null && (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement))
    const edge = document.documentElement.clientWidth + 1
    const isShown = (element: Element) => element.checkVisibility() && element.textContent?.trim() !== '' && !scrolls(element)
    // Rows that a phone shows on two lines have nothing to scroll to.
    const tables = [...document.querySelectorAll('main .scroll:has(> .list-table)')].filter((element) => element.scrollWidth > element.clientWidth + 1)
    const beyond = [...document.querySelectorAll('main *')].filter((element) => element.getBoundingClientRect().right > edge && isShown(element))
    return [...tables, ...beyond].map((element) => element.outerHTML.slice(0, 120))
  })

/** Pictures of a screen in both themes and widths, nothing cut off at 360 pixels, nothing that axe objects to. */
export async function look(page: Page, name: string): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme })
    for (const [width, size] of [
      ['360', PHONE],
      ['1440', DESKTOP],
    ] as const) {
      await page.setViewportSize(size)
      await page.evaluate(() => scrollTo(0, 0))
      expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), `${name} at ${width} px`).toBeLessThanOrEqual(0)
      expect(await cutOff(page), `${name} at ${width} px`).toEqual([])
      await page.screenshot({ path: fileURLToPath(new URL(`${name}-${width}-${theme}.png`, SHOTS)), fullPage: true })
    }
    expect(await violations(page), `${name}, ${theme}`).toEqual([])
  }
  await page.emulateMedia({ colorScheme: 'light' })
  expectCalm(page)
}
