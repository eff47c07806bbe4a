// The check this page exists for: an address is shown only when it can be computed again from the
// merchant's pinned destination. What the server says is an input here and never an answer.

import type { AddressDerivation } from '../api/types.ts'
import { deriveEvm, readEvm } from './evm.ts'
import { hrp, networks } from './networks.ts'
import { type PinConfig, pinsFor } from './pins.ts'

export interface Offer {
  asset: string
  symbol: string
  network: string
  address: string
  address_derivation: AddressDerivation | null
}

export type Verdict =
  /** The address was computed here, and it is the merchant's. */
  | { kind: 'checked'; address: string; destination: string }
  /** Nothing is pinned for this network, or this page cannot compute its addresses. */
  | { kind: 'unpinned' }
  /** It does not belong to the merchant. */
  | { kind: 'mismatch' }

const MISMATCH: Verdict = { kind: 'mismatch' }
const UNPINNED: Verdict = { kind: 'unpinned' }

/** Whether this page could compute an address on the network, and say whose it is. */
export function isCheckable(id: string, config: PinConfig): boolean {
  const family = networks[id]?.family
  const pins = pinsFor(config, id)
  if (!family || family === 'solana' || pins.destinations.length === 0) return false
  return family === 'bitcoin' || pins.factory !== null
}

export async function verify(offer: Offer, config: PinConfig): Promise<Verdict> {
  const network = networks[offer.network]
  if (offer.asset !== `${offer.symbol}@${offer.network}`) return MISMATCH
  if (!network || !isCheckable(offer.network, config)) return UNPINNED
  const pins = pinsFor(config, offer.network)
  const derivation = offer.address_derivation
  if (!derivation) return MISMATCH

  if (network.family === 'bitcoin') {
    if (derivation.scheme !== 'bip84_v1') return MISMATCH
    const { deriveBitcoin, readAccountKey } = await import('./bitcoin.ts')
    const pinned = pins.destinations.map((text) => readAccountKey(text, network.live))
    const key = derivation.account_xpub
    if (!pinned.includes(key)) return MISMATCH
    return agree(offer, deriveBitcoin(key, derivation.path, network.live, hrp(network)), key)
  }

  const { scheme, read, derive } = network.family === 'evm' ? EVM : await tron()
  if (derivation.scheme !== scheme) return MISMATCH
  const { factory, salt, destination } = derivation
  const pinned = pins.destinations.map(read)
  if (factory !== pins.factory || !pinned.includes(destination)) return MISMATCH
  return agree(offer, derive(factory, salt, destination), destination)
}

const EVM = { scheme: 'create2_forwarder_v1', read: readEvm, derive: deriveEvm } as const

/** TRON's own checksum is fetched when TRON is offered. */
async function tron() {
  const { deriveTron, readTron } = await import('./tron.ts')
  return { scheme: 'tron_create2_forwarder_v1', read: readTron, derive: deriveTron } as const
}

/** Letter by letter: another spelling of the same address is not what the server would have sent. */
function agree(offer: Offer, address: string | null, destination: string): Verdict {
  return address !== null && address === offer.address ? { kind: 'checked', address, destination } : MISMATCH
}
