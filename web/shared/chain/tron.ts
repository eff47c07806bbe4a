// TRON addresses: base58 with a checksum, and the forwarder with TRON's first byte.

import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { concat } from './bytes.ts'
import { forwarder, isNobodys, readSalt } from './evm.ts'

const PREFIX = 0x41
const base58check = createBase58check(sha256)

/** The 20 bytes inside `T…`, or null. */
function inner(text: string): Uint8Array | null {
  if (!/^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(text)) return null
  try {
    const bytes = base58check.decode(text)
    return bytes.length === 21 && bytes[0] === PREFIX ? bytes.slice(1) : null
  } catch {
    return null
  }
}

const written = (bytes: Uint8Array) => base58check.encode(concat(Uint8Array.of(PREFIX), bytes))

export function readTron(text: string): string | null {
  const bytes = inner(text)
  return bytes && !isNobodys(bytes) ? written(bytes) : null
}

export function deriveTron(factory: string, salt: string, destination: string): string | null {
  const from = inner(factory)
  const salted = readSalt(salt)
  const to = inner(destination)
  if (!from || !salted || !to) return null
  return written(forwarder(PREFIX, from, salted, to))
}
