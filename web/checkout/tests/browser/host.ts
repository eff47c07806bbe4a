// A merchant's own host: the built pages as plain files under a path of its own, with a config.json.

import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname } from 'node:path'

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
}

export interface Host {
  /** Where the pages are, without a slash at the end. */
  url: string
  close: () => Promise<void>
}

const PREFIX = '/shop/pay'

/** The policy that a page with scripts of its own and one API needs, and not a word more. */
export const policy = (api: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${api}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

/** What any host does: the file, or 404.html, or nothing. */
export async function files(folder: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://host').pathname.slice(1)
  const read = (name: string) => readFile(new URL(name, folder)).catch(() => null)
  const body = (await read(path)) ?? (await read('404.html'))
  const type = TYPES[extname(path) || '.html'] ?? 'application/octet-stream'
  response.writeHead(body ? 200 : 404, { 'content-type': type }).end(body ?? '')
}

export async function host(folder: URL, config: () => { api: string }): Promise<Host> {
  const server: Server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://host').pathname.slice(PREFIX.length)
    const headers = { 'content-security-policy': policy(new URL(config().api).origin), 'referrer-policy': 'no-referrer' }
    if (path === '/config.json') {
      response.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(config()))
      return
    }
    const name = path.startsWith('/assets/') ? path.slice(1) : 'index.html'
    try {
      const body = await readFile(new URL(name, folder))
      response.writeHead(200, { ...headers, 'content-type': TYPES[extname(name)] ?? 'application/octet-stream' }).end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${PREFIX}`,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections()
        server.close(() => done())
      }),
  }
}
