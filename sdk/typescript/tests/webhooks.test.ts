// Signatures: of a webhook that was really delivered, and of all that is not one.

import { createHmac } from 'node:crypto'
import { type Event, SignatureError, verifyWebhook } from 'till-sdk'
import { expect, test } from 'vitest'
import { endpoint, order, till, webhookSecret } from './shop.ts'

test('a delivered webhook is verified, and its event is told apart by its type', async () => {
  const receiver = await endpoint()
  await till.merchant.updateSettings({ webhook_url: receiver.url })
  const invoice = await order()
  await till.testHelpers.simulatePayment(invoice.id)
  const { body, signature } = await receiver.first((one) => {
    const event = JSON.parse(one.body.toString()) as Event
    return event.type === 'invoice.paid' && event.invoice_id === invoice.id
  })
  const event = await verifyWebhook(body, signature, webhookSecret)
  if (event.type !== 'invoice.paid') throw new Error('another event')
  expect(event.data.object.id).toBe(invoice.id)
  expect(event.data.object.amount.amount).toBe('25.00')
  expect(await verifyWebhook(body.toString(), signature, webhookSecret)).toEqual(event)

  const changed = Buffer.from(body)
  changed[changed.length - 2] = 0x20
  await expect(verifyWebhook(changed, signature, webhookSecret)).rejects.toBeInstanceOf(SignatureError)
  await expect(verifyWebhook(body, signature, `${webhookSecret}0`)).rejects.toBeInstanceOf(SignatureError)
  await till.merchant.updateSettings({ webhook_url: null })
  receiver.close()
})

const NOW = 1_800_000_000
const BODY = '{"id":"evt_1","type":"invoice.paid"}'
const SECRET = 'whsec_test'
const hmac = (time: number | string, body = BODY, secret = SECRET) => createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
const verified = (header: string | null | undefined, body = BODY) => verifyWebhook(body, header, SECRET, { now: NOW })

test('any of several signatures is enough, and other schemes are ignored', async () => {
  const right = hmac(NOW)
  for (const header of [
    `t=${NOW},v1=${right}`,
    `t=${NOW}, v1=${'0'.repeat(64)}, v1=${right}`,
    `t=${NOW},v1=${right},v1=${'0'.repeat(64)},v0=abc`,
    `v2=new,v1=${right.toUpperCase()},t=${NOW}`,
  ]) {
    expect(await verified(header)).toMatchObject({ id: 'evt_1' })
  }
})

test('what proves nothing is refused', async () => {
  const right = hmac(NOW)
  for (const header of [
    null,
    undefined,
    '',
    't=',
    `v1=${right}`,
    `t=${NOW}`,
    `t=${NOW},v1=`,
    `t=${NOW},v1=${right.slice(0, 62)}`,
    `t=${NOW},v1=${right}00`,
    `t=${NOW},v0=${right}`,
    `t=${NOW + 1},v1=${right}`,
    `t=now,v1=${hmac('now')}`,
    `t=NaN,v1=${hmac('NaN')}`,
    `t=-${NOW},v1=${hmac(`-${NOW}`)}`,
    `t=${NOW},v1=${hmac(NOW, `${BODY} `)}`,
    `t=${NOW},v1=${hmac(NOW, BODY, 'whsec_other')}`,
  ]) {
    await expect(verified(header), String(header)).rejects.toBeInstanceOf(SignatureError)
  }
  await expect(verifyWebhook(BODY, `t=${NOW},v1=${hmac(NOW, BODY, '')}`, '', { now: NOW })).rejects.toBeInstanceOf(SignatureError)
})

test('a body that was parsed already is no proof, and the error says so', async () => {
  const parsed = JSON.parse(BODY) as string
  await expect(verifyWebhook(parsed, `t=${NOW},v1=${hmac(NOW)}`, SECRET, { now: NOW })).rejects.toThrow('parsed already')
})

test('a signature holds for five minutes in both directions', async () => {
  for (const [time, isTaken] of [
    [NOW - 300, true],
    [NOW + 300, true],
    [NOW - 301, false],
    [NOW + 301, false],
  ] as const) {
    const promise = verified(`t=${time},v1=${hmac(time)}`)
    if (isTaken) expect(await promise).toMatchObject({ id: 'evt_1' })
    else await expect(promise).rejects.toBeInstanceOf(SignatureError)
  }
})
