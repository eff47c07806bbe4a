// Whether a webhook came from the server, and when.

import { SignatureError } from './errors.ts'
import type { Event } from './types.ts'

/** The header that a webhook's signature is in. */
export const SIGNATURE_HEADER = 'x-service-signature'

export interface VerifyOptions {
  /** How far the signature's time may be from now, in seconds. Default: 300. */
  toleranceSeconds?: number
  /** Now, in seconds since 1970; for tests. */
  now?: number
}

interface Signature {
  time: string
  values: Uint8Array<ArrayBuffer>[]
}

function parse(header: string): Signature {
  let time: string | undefined
  const values: Uint8Array<ArrayBuffer>[] = []
  for (const part of header.split(',')) {
    const at = part.indexOf('=')
    const [scheme, value] = [part.slice(0, at).trim(), part.slice(at + 1).trim()]
    if (scheme === 't') time ??= value
    else if (scheme === 'v1' && /^[0-9a-f]{64}$/i.test(value)) values.push(bytesOfHex(value))
  }
  if (time === undefined || !/^\d{1,15}$/.test(time)) throw new SignatureError('the signature has no time')
  return { time, values }
}

function bytesOfHex(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length / 2)
  for (let at = 0; at < bytes.length; at++) bytes[at] = Number.parseInt(text.slice(2 * at, 2 * at + 2), 16)
  return bytes
}

/** Takes the same time wherever they differ. */
function equal(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (let at = 0; at < a.length; at++) difference |= (a[at] ?? 0) ^ (b[at] ?? 0)
  return difference === 0
}

/**
 * The event that a webhook brought, once its signature is found to be right; a `SignatureError` otherwise.
 *
 * `rawBody` is the body as it came, before anything parsed it. Deliveries repeat: do what an event asks for once per `id`.
 */
export async function verifyWebhook(
  rawBody: string | ArrayBuffer | Uint8Array,
  header: string | null | undefined,
  secret: string,
  { toleranceSeconds = 300, now = Date.now() / 1000 }: VerifyOptions = {},
): Promise<Event> {
  if (!header) throw new SignatureError(`there is no ${SIGNATURE_HEADER} header`)
  if (typeof rawBody !== 'string' && !(rawBody instanceof ArrayBuffer) && !ArrayBuffer.isView(rawBody)) {
    throw new SignatureError('the body was parsed already: its signature is over the bytes that came')
  }
  if (!secret) throw new SignatureError('there is no webhook secret to compare with')
  const { time, values } = parse(header)
  if (!(Math.abs(now - Number(time)) <= toleranceSeconds)) throw new SignatureError('the signature is too old, or from the future')
  const encoder = new TextEncoder()
  const body = typeof rawBody === 'string' ? encoder.encode(rawBody) : new Uint8Array(rawBody)
  const start = encoder.encode(`${time}.`)
  const message = new Uint8Array(start.length + body.length)
  message.set(start)
  message.set(body, start.length)
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), hmac, false, ['sign'])
  const expected = new Uint8Array(await crypto.subtle.sign(hmac, key, message))
  // All are compared: while a secret is replaced there are two.
  const isRight = values.map((value) => equal(value, expected)).includes(true)
  if (!isRight) throw new SignatureError('the signature is not of this body and secret')
  return JSON.parse(new TextDecoder().decode(body)) as Event
}
