// A server for real use with one organisation, as the first run makes it.

import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll } from 'vitest'

/** Where cargo put the program. */
const TARGET = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../../../../target', import.meta.url))
export const TILL = `${TARGET}/debug/till`

export const OWNER = 'owner@example.com'

export interface Server {
  /** `http://localhost:…`: passkeys do not work on addresses of numbers. */
  origin: string
  account: string
  /** The owner's invitation. */
  link: string
  secretKey: string
  /** Runs a command of the program where the server runs, and gives what it prints. */
  till: (...args: string[]) => Promise<string>
  /** Asks the API with the organisation's secret test key. */
  call: <T = Record<string, unknown>>(method: string, path: string, body?: unknown) => Promise<T>
  invoice: (amount?: string, description?: string) => Promise<{ id: string; payment_options: { asset: string }[] }>
  /** A simulated payment of a test invoice; by default the whole amount, all the way to final. */
  pay: (id: string, how?: Record<string, unknown>) => Promise<unknown>
}

function freePort(): Promise<number> {
  return new Promise((found) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => found(port))
    })
  })
}

/** Starts one for the tests of one file, and ends it after them. `settings` are lines at the end of its configuration file, `more` of its section for the server. */
export async function startTill(settings = '', more = ''): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'till-dashboard-'))
  const port = await freePort()
  writeFileSync(join(folder, 'till.toml'), `[server]\nlisten = "127.0.0.1:${port}"\ndrain_s = 0\n${more}\n[webhooks]\nallow_private_addresses = true\n${settings}`)
  const till = async (...args: string[]) => (await promisify(execFile)(TILL, [...args, '--config', 'till.toml'], { cwd: folder, env: {} })).stdout
  const made = JSON.parse(await till('account', 'create', '--name', 'Northwind Books', '--owner', OWNER, '--operator', '--json')) as {
    account: string
    dashboard_link: string
    test: { secret_key: string }
  }
  const server = spawn(TILL, ['serve', '--config', 'till.toml'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], env: { TILL_LOG: 'error' } })
  afterAll(() => {
    server.kill()
    rmSync(folder, { recursive: true, force: true })
  })
  const origin = `http://localhost:${port}`
  for (let tries = 0; !(await fetch(`${origin}/healthz`).then((answer) => answer.ok, () => false)); tries++) {
    if (tries > 200 || server.exitCode !== null) throw new Error(`${TILL} did not start`)
    await new Promise((resume) => setTimeout(resume, 50))
  }
  let calls = 0
  const call: Server['call'] = async <T>(method: string, path: string, body?: unknown) => {
    const response = await fetch(origin + path, {
      method,
      headers: { authorization: `Bearer ${made.test.secret_key}`, 'content-type': 'application/json', 'idempotency-key': `test-${++calls}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as T & { error?: { code: string; message: string } }
    if (!response.ok) throw new Error(`${method} ${path}: ${answer.error?.code}: ${answer.error?.message}`)
    return answer
  }
  return {
    origin,
    account: made.account,
    link: made.dashboard_link,
    secretKey: made.test.secret_key,
    till,
    call,
    invoice: (amount = '48.00', description = 'Order 10482, two books') => call('POST', '/v1/invoices', { amount, currency: 'USD', description, customer_ref: 'reader-2041' }),
    pay: async (id, how = {}) => {
      const { payment_options } = await call<{ payment_options: { asset: string }[] }>('GET', `/v1/invoices/${id}`)
      return call('POST', `/v1/test_helpers/invoices/${id}/simulate_payment`, { asset: payment_options[0]?.asset, ...how })
    },
  }
}
