// Solana addresses: 32 bytes in base58.

import { base58 } from '@scure/base'

export function readSolana(text: string): string | null {
  try {
    return base58.decode(text).length === 32 ? text : null
  } catch {
    return null
  }
}
