// Addresses that people type: where a refund shall go.

import { base58 } from '@scure/base'
import { readEvm } from './evm.ts'
import { hrp, networks } from './networks.ts'
import { readTron } from './tron.ts'

/** The address in canonical form, or null when it is none of that network or has a typing error. */
export async function readPayee(network: string, text: string): Promise<string | null> {
  const known = networks[network]
  switch (known?.family) {
    case 'evm':
      return readEvm(text)
    case 'tron':
      return readTron(text)
    case 'bitcoin':
      return (await import('./bitcoin.ts')).readBitcoin(text, known.live, hrp(known))
    case 'solana':
      return readSolana(text)
    default:
      return null
  }
}

function readSolana(text: string): string | null {
  try {
    return base58.decode(text).length === 32 ? text : null
  } catch {
    return null
  }
}
