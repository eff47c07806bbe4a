// A merchant with its API key, as the tests need it.

import { inject } from 'vitest'

const demo = inject('demo')
export const publishableKey = demo.publishable_key
export const apiUrl = demo.base_url

let calls = 0

export async function call<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(demo.base_url + path, {
    method,
    headers: {
      authorization: `Bearer ${demo.secret_key}`,
      'content-type': 'application/json',
      'idempotency-key': `test-${process.pid}-${++calls}`,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as T & { error?: { code: string; message: string } }
  if (!response.ok) throw new Error(`${method} ${path}: ${answer.error?.code}: ${answer.error?.message}`)
  return answer
}

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

export function invoice(assets: string[] = ALL, amount = '48.00'): Promise<Made> {
  return call<Made>('POST', '/v1/invoices', { amount, currency: 'USD', description: 'Order 10482, two books', assets })
}

/** A payment out of nowhere; by default the whole amount, all the way to final. */
export function pay(id: string, how: { asset?: string; amount?: string; finality_steps?: string[] } = {}): Promise<Made> {
  return call<Made>('POST', `/v1/test_helpers/invoices/${id}/simulate_payment`, how)
}

export async function destinations(): Promise<Record<string, string>> {
  const settings = await call<{ registered_destinations: Record<string, string> }>('GET', '/v1/merchant/settings')
  return settings.registered_destinations
}
