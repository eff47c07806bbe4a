// Makes a payment link and serves the page with it. A page of yours is one file on any host: index.html, with your link and the server's address in it.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const PORT = Number(process.env.PORT ?? 3000)

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

const page = readFileSync(new URL('index.html', import.meta.url), 'utf8')
  .replace(/TILL_URL(?=\/)/, process.env.TILL_URL)
  .replace('PAYMENT_LINK', link.url)
createServer((request, answer) => {
  const isThere = request.url === '/'
  answer.writeHead(isThere ? 200 : 404, { 'content-type': `text/${isThere ? 'html' : 'plain'}; charset=utf-8` }).end(isThere ? page : undefined)
}).listen(PORT, '127.0.0.1', () => console.log(`the shop is at http://127.0.0.1:${PORT}`))
