// The golden file that Rust, Solidity and these pages all read.

import { readFileSync } from 'node:fs'
import type { AddressDerivation } from '../api/types.ts'

export interface Deposit {
  network: string
  destination: string
  derivation: AddressDerivation
  address: string
}

interface Vectors {
  forwarder: { init_prefix: string; init_suffix: string; factory: string }
  create2: { derivation: AddressDerivation; address: string }[]
  deposits: Deposit[]
  addresses: { network: string; text: string; canonical: string | null }[]
}

const file = new URL('../../../testdata/address_vectors.json', import.meta.url)
export const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vectors
