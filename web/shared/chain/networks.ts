// What this page knows of networks by itself, cut at build time from the server's own table
// (crates/core/data/networks.json). Names and factories are not taken from an answer.

import table from 'till:networks'

type Family = 'evm' | 'tron' | 'bitcoin' | 'solana'

export interface Network {
  family: Family
  name: string
  live: boolean
  /** Where the network's explorer shows a transaction, `{hash}` in its place. */
  explorer: string
  /** Whether the network has a level between being in a block and final. */
  safe: boolean
  /** Who deploys forwarders there. */
  factory: string | null
}

/** Without a prototype: a network called `constructor` is not known either. */
export const networks: Record<string, Network> = Object.assign(Object.create(null), table)

/** TRON's networks have a second, hexadecimal name. */
export function canonicalNetwork(id: string): string {
  const hex = /^tron:(0x[0-9a-f]{1,8})$/.exec(id)?.[1]
  return hex ? `tron:${BigInt(hex)}` : id
}

export const familyOf = (id: string): Family | null => networks[id]?.family ?? null

export const networkName = (id: string, said: string): string => networks[id]?.name ?? said

export function explorerLink(id: string, hash: string): string | null {
  const form = networks[id]?.explorer
  if (!form || !/^[0-9a-zA-Z]{1,100}$/.test(hash)) return null
  // TRON's explorer knows hashes without the prefix that EVM tools put before them.
  return form.replace('{hash}', id.startsWith('tron:') ? hash.replace(/^0x/, '') : hash)
}

/** The readable part that Bitcoin addresses begin with. */
export const hrp = (network: Network) => (network.live ? 'bc' : 'tb')
