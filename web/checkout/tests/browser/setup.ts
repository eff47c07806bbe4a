// What all browser tests share: Debian's Chromium and the demonstration server, both started once.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'

export interface Demo {
  base_url: string
  secret_key: string
  publishable_key: string
}

declare module 'vitest' {
  interface ProvidedContext {
    browser: string
    demo: Demo
  }
}

const TILL = process.env.CHECKOUT_TILL ?? '../../target/debug/till'
const CHROMIUM = process.env.CHECKOUT_CHROMIUM ?? '/usr/bin/chromium'

export default async function setup(project: TestProject) {
  const till = spawn(TILL, ['demo', '--json', '--listen', '127.0.0.1:0'], {
    cwd: project.config.root,
    stdio: ['ignore', 'pipe', 'inherit'],
    // Every test of a limited endpoint comes from the same address.
    env: { TILL_LIMITS_CHECKOUT_PER_MINUTE: '10000', TILL_LOG: 'error' },
  })
  const lines = createInterface(till.stdout)
  const first = await new Promise<string>((said, failed) => {
    lines.once('line', said)
    till.once('error', failed)
    till.once('exit', (code) => failed(new Error(`${TILL} ended with ${code}`)))
  })
  project.provide('demo', JSON.parse(first) as Demo)
  const browser = await chromium.launchServer({ executablePath: CHROMIUM })
  project.provide('browser', browser.wsEndpoint())
  return async () => {
    await browser.close()
    till.removeAllListeners('exit')
    till.kill()
  }
}
