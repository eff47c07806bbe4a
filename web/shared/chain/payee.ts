// Addresses that people type: where a refund shall go.

import { readEvm } from './evm.ts'
import { hrp, networks } from './networks.ts'

/** The address in canonical form, or null when it is none of that network or has a typing error. */
export async function readPayee(network: string, text: string): Promise<string | null> {
  const known = networks[network]
  switch (known?.family) {
    case 'evm':
      return readEvm(text)
    case 'tron':
      return (await import('./tron.ts')).readTron(text)
    case 'bitcoin':
      return (await import('./bitcoin.ts')).readBitcoin(text, known.live, hrp(known))
    case 'solana':
      return (await import('./solana.ts')).readSolana(text)
    default:
      return null
  }
}
