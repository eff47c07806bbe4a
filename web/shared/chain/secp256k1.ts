// The curve of Bitcoin's keys, as far as a public key's children need it. Only what everybody may know goes in, so
// that nothing here has to hide how long it takes.

import { Point } from '@noble/secp256k1'

export const ORDER = Point.CURVE().n

const COMPRESSED_BYTES = 33

export function toNumber(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

/** The compressed public key `key + tweak·G`, or null when the key is none or nothing is left. */
export function tweaked(key: Uint8Array, tweak: bigint): Uint8Array | null {
  if (key.length !== COMPRESSED_BYTES || tweak >= ORDER) return null
  try {
    const sum = Point.fromBytes(key).add(tweak === 0n ? Point.ZERO : Point.BASE.multiplyUnsafe(tweak))
    return sum.is0() ? null : sum.toBytes()
  } catch {
    return null
  }
}
