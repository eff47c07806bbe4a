// Opening a page as a payer, and looking at it.

import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core'
import { expect, inject } from 'vitest'
import { violations } from '#shared/browser/axe.ts'

let browser: Promise<Browser> | undefined
const connected = () => (browser ??= chromium.connect(inject('browser')))

/** Build output: looked at by people, not kept. */
const SHOTS = new URL('../../shots/', import.meta.url)

export const shotPath = (name: string) => fileURLToPath(new URL(`${name}.png`, SHOTS))

const PHONE = { width: 390, height: 844 }
const DESKTOP = { width: 1280, height: 800 }

export interface Visit {
  page: Page
  context: BrowserContext
  /** Requests that left the two origins this page may talk to. */
  close: () => Promise<void>
}

/** What a page must never do: throw, break its own policy, or ask a third party. */
const complaints = new WeakMap<Page, string[]>()

export async function visit(url: string, options: BrowserContextOptions & { allowed?: RegExp } = {}): Promise<Visit> {
  const { allowed, ...rest } = options
  const context = await (await connected()).newContext({ viewport: PHONE, locale: 'en-US', timezoneId: 'UTC', ...rest })
  await context.grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => {})
  const page = await context.newPage()
  const found: string[] = []
  complaints.set(page, found)
  page.on('pageerror', (error) => found.push(String(error)))
  page.on('console', (message) => {
    const text = message.text()
    // A refused or lost request is the page's business, and it shows what became of it.
    if (message.type() === 'error' && !/Failed to load resource|net::ERR/.test(text)) found.push(text)
  })
  page.on('request', (request) => {
    const origin = new URL(request.url()).origin
    if (!/^http:\/\/127\.0\.0\.1:|^null$/.test(origin) && !allowed?.test(request.url())) found.push(`asked ${request.url()}`)
  })
  page.setDefaultTimeout(20_000)
  await page.goto(url)
  const close = async () => {
    // A request that is being answered when the test ends is nobody's any more.
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
  }
  return { page, context, close }
}

/** Nothing went wrong so far. */
export function expectCalm(page: Page): void {
  expect(complaints.get(page)).toEqual([])
}

/** No violation that axe knows, no sideways scrolling at 320 pixels, and pictures of both widths. */
export async function look(page: Page, name: string): Promise<void> {
  for (const [width, size] of [
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const) {
    await page.setViewportSize(size)
    await page.screenshot({ path: shotPath(`${name}-${width}`), fullPage: true })
  }
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await cutOff(page), `${name} at 320 px`).toEqual([])
  await page.setViewportSize(PHONE)
  expect(await violations(page), name).toEqual([])
  expectCalm(page)
}

/** What would scroll sideways, or is cut off by the card or by the window. */
export function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth
    const found = document.documentElement.scrollWidth > width ? ['the page scrolls sideways'] : []
    for (const element of document.querySelectorAll('.till *:not(.sr, .lang *, svg, svg *)')) {
      const { left, right } = element.getBoundingClientRect()
      if (left < -1 || right > width + 1) found.push(element.outerHTML.slice(0, 80))
    }
    for (const part of document.querySelectorAll('.card > *')) {
      if (part.scrollWidth > part.clientWidth + 1) found.push(part.outerHTML.slice(0, 80))
    }
    return found
  })
}

export function heading(page: Page, words?: string) {
  const found = page.locator('h1')
  return words === undefined ? found.first() : found.filter({ hasText: words }).first()
}
