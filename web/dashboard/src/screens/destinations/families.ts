// Kinds of networks by the name the API knows them under, and what stands for a destination there.

import { networks } from '#shared/chain/networks.ts'
import { readPayee } from '#shared/chain/payee.ts'
import type { Mode } from '../../app/router.ts'

export const FAMILIES = ['eip155', 'tron', 'bip122', 'solana'] as const
export type FamilyName = (typeof FAMILIES)[number]

export const isFamily = (name: string): name is FamilyName => (FAMILIES as readonly string[]).includes(name)

/** A network of that kind and mode; all of them write addresses in the same way. */
const oneOf = (family: FamilyName, mode: Mode) => Object.keys(networks).find((id) => id.startsWith(`${family}:`) && networks[id]?.live === (mode === 'live'))

export interface Read {
  /** As it is written when every character is right. */
  address: string
  /** The first address that payers would see, where each invoice gets one of its own from a key. */
  first: string | null
}

/** A destination computed again here: in its one right form, or null when it is none of that kind. */
export async function readDestination(family: FamilyName, mode: Mode, text: string): Promise<Read | null> {
  if (family === 'bip122') {
    const { deriveBitcoin, readAccountKey } = await import('#shared/chain/bitcoin.ts')
    const isLive = mode === 'live'
    const address = readAccountKey(text, isLive)
    return address === null ? null : { address, first: deriveBitcoin(address, '0/0', isLive, isLive ? 'bc' : 'tb') }
  }
  const network = oneOf(family, mode)
  const address = network === undefined ? null : await readPayee(network, text)
  return address === null ? null : { address, first: null }
}
