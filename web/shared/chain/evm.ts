// EVM addresses: their checksum, and CREATE2 of the forwarder.

import { keccak_256 } from '@noble/hashes/sha3.js'
import { concat, fromHex, toHex } from './bytes.ts'

/** The address as EIP-55 writes it. */
function checksummed(bytes: Uint8Array): string {
  const digits = toHex(bytes)
  const hash = toHex(keccak_256(new TextEncoder().encode(digits)))
  let text = '0x'
  for (let at = 0; at < digits.length; at++) {
    const digit = digits[at] as string
    text += (hash[at] as string) >= '8' ? digit.toUpperCase() : digit
  }
  return text
}

/** Zeros that no key can have been found for, and where people send what shall be lost (`0x…dEaD`). */
export const isNobodys = (bytes: Uint8Array) => /^0{32}|^(e{40}|f{40}|dead0{16}(42069){4})$/.test(toHex(bytes))

/**
 * The address in canonical form, or null. Lower case is taken as it is; with any capital letter the
 * checksum must be right. What nobody has the key of is no address.
 */
export function readEvm(text: string): string | null {
  const bytes = fromHex(text, 20)
  if (!bytes || isNobodys(bytes)) return null
  const canonical = checksummed(bytes)
  return text === canonical || text === text.toLowerCase() ? canonical : null
}

/*
 * The forwarder's init code but for the destination in its middle (docs/addresses.md). They are part of
 * this program on purpose: the server is not asked for what it is checked against.
 */
const INIT_PREFIX = '0x60943d8160093d39f373'
const INIT_SUFFIX =
  '0x36601a57005b60043560003560e01c6379c76e1a14603157600080fd5b80604a5780808047855af16092575b3d6000803e3d60' +
  '00fd5b6370a0823160e01b600052306004526020600060246000845afa3d601f10161560405760005163a9059cbb60e01b600052' +
  '826004526024526000806044600080855af1156040575b00'

/** The last 20 bytes of keccak256(first byte ‖ factory ‖ salt ‖ keccak256(init code)). */
export function forwarder(first: number, factory: Uint8Array, salt: Uint8Array, destination: Uint8Array): Uint8Array {
  const prefix = fromHex(INIT_PREFIX, 10) as Uint8Array
  const suffix = fromHex(INIT_SUFFIX, 127) as Uint8Array
  const init = keccak_256(concat(prefix, destination, suffix))
  return keccak_256(concat(Uint8Array.of(first), factory, salt, init)).slice(12)
}

const CREATE2_FIRST = 0xff

/** A salt is written in one way only. */
export const readSalt = (text: string) => (/^0x[0-9a-f]{64}$/.test(text) ? fromHex(text, 32) : null)

export function deriveEvm(factory: string, salt: string, destination: string): string | null {
  const from = fromHex(factory, 20)
  const salted = readSalt(salt)
  const to = fromHex(destination, 20)
  if (!from || !salted || !to) return null
  return checksummed(forwarder(CREATE2_FIRST, from, salted, to))
}
