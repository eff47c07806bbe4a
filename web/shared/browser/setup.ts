// Debian's Chromium, started once for all browser tests.

import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    browser: string
  }
}

const CHROMIUM = process.env.CHECKOUT_CHROMIUM ?? '/usr/bin/chromium'

export default async function setup(project: TestProject) {
  const browser = await chromium.launchServer({ executablePath: CHROMIUM })
  project.provide('browser', browser.wsEndpoint())
  return () => browser.close()
}
