// A shop with one product: an order, its invoice, and the webhook that says it was paid.

import { randomUUID } from 'node:crypto'
import express from 'express'
import { SIGNATURE_HEADER, SignatureError, Till, verifyWebhook } from 'till-sdk'

const PORT = Number(process.env.PORT ?? 3000)
const SHOP_URL = process.env.SHOP_URL ?? `http://127.0.0.1:${PORT}`
const till = new Till({ url: process.env.TILL_URL, key: process.env.TILL_SECRET_KEY })

// In a shop of yours these are tables, and marking an event as seen is part of the transaction that acts on it.
const orders = new Map()
const seenEvents = new Set()

const page = (title, body, head = '') =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">${head}<title>${title}</title><main><h1>${title}</h1>${body}</main></html>`

const app = express()

app.get('/', (_, response) => {
  response.send(page('Tea', '<p>A tin of tea for $25.</p><form method="post" action="/orders"><button>Buy</button></form>'))
})

app.post('/orders', async (_, response) => {
  const order = { id: randomUUID(), invoice: null, parcels: 0 }
  orders.set(order.id, order)
  const invoice = await till.invoices.create(
    {
      amount: '25.00',
      currency: 'USD',
      description: 'A tin of tea',
      customer_ref: order.id,
      return_url: `${SHOP_URL}/orders/${order.id}`,
    },
    // One order has one invoice, however often this is tried.
    { idempotencyKey: `order-${order.id}` },
  )
  order.invoice = invoice.id
  response.redirect(303, invoice.checkout_url)
})

app.get('/orders/:id', (request, response) => {
  const order = orders.get(request.params.id)
  if (!order) return response.status(404).send(page('No such order', ''))
  if (order.parcels > 0) return response.send(page('Thank you', `<p>Paid. ${order.parcels} parcel is on its way.</p>`))
  return response.send(page('Your order', '<p>Waiting for the payment.</p>', '<meta http-equiv="refresh" content="1">'))
})

// The body as it came: the signature is over its bytes.
app.post('/webhooks', express.raw({ type: '*/*', limit: '1mb' }), async (request, response) => {
  let event
  try {
    event = await verifyWebhook(request.body, request.get(SIGNATURE_HEADER), process.env.TILL_WEBHOOK_SECRET)
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error
    return response.sendStatus(400)
  }
  // Deliveries repeat.
  if (!seenEvents.has(event.id)) {
    seenEvents.add(event.id)
    if (event.type === 'invoice.paid' || event.type === 'invoice.overpaid' || event.type === 'invoice.paid_late') {
      const order = orders.get(event.data.object.customer_ref)
      // An invoice may say more than once that it is paid: a parcel is sent once.
      if (order?.invoice === event.data.object.id && order.parcels === 0) order.parcels = 1
    }
  }
  return response.sendStatus(204)
})

app.listen(PORT, '127.0.0.1', async () => {
  // For trying it out. In live mode the address is set on the dashboard, by a person.
  await till.merchant.updateSettings({ webhook_url: `${SHOP_URL}/webhooks` })
  console.log(`the shop is at ${SHOP_URL}`)
})
