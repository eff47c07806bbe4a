// A merchant: a demonstration server of its own, its key, and its own host with the pages on it.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll } from 'vitest'
import { host } from './host.ts'

/** Where cargo put the program. */
const TARGET = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../../../../target', import.meta.url))
export const TILL = `${TARGET}/debug/till`
const PAGES = new URL('../../../dist/checkout/', import.meta.url)

export const BASE = 'USDC@eip155:84532'
export const SEPOLIA = 'USDC@eip155:11155111'
export const ARBITRUM = 'USDC@eip155:421614'
export const TRON = 'USDT@tron:3448148188'
export const BITCOIN = 'BTC@bip122:00000000da84f2bafbbc53dee25a72ae'
export const ALL = [BASE, SEPOLIA, ARBITRUM, TRON, BITCOIN]

export interface Made {
  id: string
  checkout_url: string
  status: string
  payment_options: { asset: string; address: string; amount_due: string }[]
}

interface Demo {
  base_url: string
  secret_key: string
  publishable_key: string
  webhook_secret: string
}

export interface Shop extends Demo {
  /** Where its own host has the pages. */
  pages: string
  /** What config.json says there; tests may change it. */
  config: Record<string, unknown> & { api: string }
  call: <T = Record<string, unknown>>(method: string, path: string, body?: unknown) => Promise<T>
  invoice: (assets?: string[], amount?: string) => Promise<Made>
  /** A payment out of nowhere; by default the whole amount, all the way to final. */
  pay: (id: string, how?: { asset?: string; amount?: string; finality_steps?: string[]; sender?: string }) => Promise<Made>
  /** Lets time pass for this merchant, with all that falls due. */
  wait: (minutes: number) => Promise<void>
}

/** Everything that is limited per client comes from one here. */
const SETTINGS = { TILL_LIMITS_CHECKOUT_PER_MINUTE: '10000' }

/** The first line of these that says what is wanted, from a program that then runs until the tests of this file are done. */
async function running(till: ChildProcess, lines: Readable, wanted: RegExp): Promise<string> {
  const said = createInterface(lines)
  const line = await new Promise<string>((found, failed) => {
    said.on('line', (line) => wanted.test(line) && found(line))
    till.once('error', failed)
    till.once('exit', (code) => failed(new Error(`${TILL} ended with ${code}`)))
  })
  afterAll(() => {
    till.removeAllListeners('exit')
    till.kill()
  })
  return line
}

/** Opens a shop for the tests of one file, and closes it after them. */
export async function openShop(settings: Record<string, string> = {}): Promise<Shop> {
  const till = spawn(TILL, ['demo', '--json', '--listen', '127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...SETTINGS, TILL_LOG: 'error', ...settings },
  })
  return merchant(JSON.parse(await running(till, till.stdout, /./)) as Demo)
}

/** One whose server is for real use, and in whose folder the program can be run beside it. */
export interface WatchingShop extends Shop {
  account: string
  /** Runs a command of the program where the server runs; what it prints. */
  till: (...args: string[]) => Promise<string>
}

/** The same, of a server for real use that watches networks, each through these endpoints. */
export async function openWatchingShop(networks: Record<string, string[]>, destinations: string[] = []): Promise<WatchingShop> {
  const folder = mkdtempSync(join(tmpdir(), 'till-shop-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const watched = Object.entries(networks).map(([network, rpc]) => `[networks."${network}"]\nrpc = ${JSON.stringify(rpc)}\n`)
  writeFileSync(join(folder, 'till.toml'), `[webhooks]\nallow_private_addresses = true\n${watched.join('')}`)
  const till = async (...args: string[]) => (await promisify(execFile)(TILL, args, { cwd: folder, env: {} })).stdout
  const made = await till('account', 'create', '--name', 'Northwind', '--json', ...destinations.flatMap((it) => ['--destination', it]))
  const { account, test } = JSON.parse(made) as { account: string; test: Omit<Demo, 'base_url'> }
  const args = ['serve', '--config', 'till.toml', '--listen', '127.0.0.1:0', '--set', 'server.drain_s=0']
  const server = spawn(TILL, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], env: SETTINGS })
  const [base_url] = /http:\/\/[\d.:]+/.exec(await running(server, server.stderr, /http:\/\//)) ?? []
  return { ...(await merchant({ ...test, base_url: base_url as string })), account, till }
}

async function merchant(demo: Demo): Promise<Shop> {
  let calls = 0
  const call: Shop['call'] = async <T>(method: string, path: string, body?: unknown) => {
    const response = await fetch(demo.base_url + path, {
      method,
      headers: {
        authorization: `Bearer ${demo.secret_key}`,
        'content-type': 'application/json',
        'idempotency-key': `test-${++calls}`,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as T & { error?: { code: string; message: string } }
    if (!response.ok) throw new Error(`${method} ${path}: ${answer.error?.code}: ${answer.error?.message}`)
    return answer
  }

  const name = 'Northwind Books'
  await call('POST', '/v1/merchant/settings', { display_name: name })
  const { registered_destinations: destinations } = await call<{ registered_destinations: unknown }>('GET', '/v1/merchant/settings')
  const config = {
    v: 1,
    api: demo.base_url,
    key: demo.publishable_key,
    merchant: name,
    support_url: 'https://example.com/help',
    return_url: 'https://example.com/',
    accent: '#0f5c6e',
    destinations,
  }
  const own = await host(PAGES, () => config)
  afterAll(() => own.close())
  return {
    ...demo,
    pages: own.url,
    config,
    call,
    invoice: (assets = ALL, amount = '48.00') =>
      call('POST', '/v1/invoices', { amount, currency: 'USD', description: 'Order 10482, two books', assets }),
    pay: (id, how = {}) => call('POST', `/v1/test_helpers/invoices/${id}/simulate_payment`, how),
    wait: async (minutes) => {
      await call('POST', '/v1/test_helpers/clock', { advance_seconds: minutes * 60 })
    },
  }
}
