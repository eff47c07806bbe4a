// Makes a payment link and serves the page with it. A page of yours is two files on any host: index.html, with your link in it, and till-button.js.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const PORT = Number(process.env.PORT ?? 3000)
const here = (path) => readFileSync(new URL(path, import.meta.url))

const response = await fetch(`${process.env.TILL_URL}/v1/payment_links`, {
  method: 'POST',
  headers: {
    authorization: `Bearer ${process.env.TILL_SECRET_KEY}`,
    'content-type': 'application/json',
    'idempotency-key': crypto.randomUUID(),
  },
  body: JSON.stringify({ amount_type: 'fixed', amount: '25.00', currency: 'USD', description: 'A tin of tea' }),
})
const link = await response.json()
if (!response.ok) throw new Error(link.error.message)

const files = {
  '/': ['text/html', here('index.html').toString().replace('PAYMENT_LINK', link.url)],
  '/till-button.js': ['text/javascript', here('../../web/dist/button/till-button.js')],
}
createServer((request, answer) => {
  const [type, body] = files[request.url] ?? []
  answer.writeHead(body ? 200 : 404, { 'content-type': `${type ?? 'text/plain'}; charset=utf-8` }).end(body)
}).listen(PORT, '127.0.0.1', () => console.log(`the shop is at http://127.0.0.1:${PORT}`))
