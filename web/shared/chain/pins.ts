// The merchant's destinations as this page's own configuration pins them.

import { canonicalNetwork, networks } from './networks.ts'

export interface PinConfig {
  /** By network (`eip155:8453`) or by family of networks (`eip155`); several while a change is under way. */
  destinations: Record<string, string | string[]>
  /** Factories that the operator deployed, where the table has none. */
  factories?: Record<string, string>
}

interface Pins {
  destinations: string[]
  factory: string | null
}

/** What is pinned for a network. One that is named itself is not looked up by its family. */
export function pinsFor(config: PinConfig, network: string): Pins {
  const named = Object.entries(config.destinations)
  const namespace = network.split(':')[0]
  const own = named.find(([name]) => canonicalNetwork(name) === network)
  const found = own ?? named.find(([name]) => name === namespace)
  const factory = Object.entries(config.factories ?? {}).find(([name]) => canonicalNetwork(name) === network)
  return {
    destinations: found ? [found[1]].flat() : [],
    factory: factory?.[1] ?? networks[network]?.factory ?? null,
  }
}
