// A merchant of the server that scripts/with-till started, and what can go wrong on the way to it.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Invoice, SIGNATURE_HEADER, Till, type TillOptions } from 'till-sdk'

function variable(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set: run the tests below scripts/with-till`)
  return value
}

export const url = variable('TILL_URL')
export const secretKey = variable('TILL_SECRET_KEY')
export const publishableKey = variable('TILL_PUBLISHABLE_KEY')
export const webhookSecret = variable('TILL_WEBHOOK_SECRET')

export const client = (options: Partial<TillOptions> = {}) => new Till({ url, key: secretKey, ...options })
export const till = client()

export const order = (): Promise<Invoice> => till.invoices.create({ amount: '25.00', currency: 'USD' })

export interface Asked {
  method: string
  path: string
  idempotencyKey: string | null
  at: number
}

/** A network that may lose what passes: `meddle` gets each request's number, from 1, and the way to the server. */
export function network(meddle: (count: number, pass: () => Promise<Response>) => Promise<Response>) {
  const asked: Asked[] = []
  const through: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    const path = String(input).slice(url.length)
    asked.push({ method: init?.method ?? 'GET', path, idempotencyKey: headers.get('idempotency-key'), at: Date.now() })
    return meddle(asked.length, () => fetch(input, init))
  }
  return { asked, fetch: through }
}

export interface Delivered {
  body: Buffer
  signature: string | undefined
}

async function whole(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

/** An endpoint for webhooks: takes what comes until `isEnough`, then gives it back. */
export async function endpoint() {
  const delivered: Delivered[] = []
  let wake = () => {}
  const server = createServer(async (request, response) => {
    delivered.push({ body: await whole(request), signature: request.headers[SIGNATURE_HEADER] as string | undefined })
    response.writeHead(204).end()
    wake()
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** Resolves with the first delivery that this accepts. */
    async first(accepts: (delivery: Delivered) => boolean): Promise<Delivered> {
      for (;;) {
        const found = delivered.find(accepts)
        if (found) return found
        await new Promise<void>((woken) => {
          wake = woken
        })
      }
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
