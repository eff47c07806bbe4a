// What the server wants a wallet to send, held against what this page knows by itself.

import type { Binding } from '../api/asked.ts'
import { readEvm } from '#shared/chain/evm.ts'
import { familyOf } from '#shared/chain/networks.ts'
import { type PinConfig, pinsFor } from '#shared/chain/pins.ts'
import { tokens } from '#shared/chain/tokens.ts'
import { readTron } from '#shared/chain/tron.ts'
import { baseUnits, compare, subtract } from '#shared/money.ts'

/** The digits that tell payments apart are always worth less than this. */
const SUFFIX_BELOW = '0.01'

/** Whether the binding asks for the right token, amount and payee. Whatever else it says is not believed. */
export function isHonest(binding: Binding, asked: { asset: string; network: string; amount: string; sender: string }, pins: PinConfig): boolean {
  const token = tokens[asked.asset]
  const read = familyOf(asked.network) === 'tron' ? readTron : readEvm
  const pinned = pinsFor(pins, asked.network).destinations.map(read)
  return (
    token !== undefined &&
    binding.asset === asked.asset &&
    binding.network === asked.network &&
    read(binding.sender) === read(asked.sender) &&
    binding.token_contract === token.contract &&
    read(binding.destination) !== null &&
    pinned.includes(read(binding.destination)) &&
    binding.amount_base_units === baseUnits(binding.amount, token.decimals) &&
    compare(binding.amount, asked.amount) >= 0 &&
    compare(subtract(binding.amount, asked.amount), SUFFIX_BELOW) < 0
  )
}

/** How many digits at the end of the bound amount only tell it from others. */
export function suffixLength(bound: string, due: string): number {
  if (compare(bound, due) === 0) return 0
  const [, part = ''] = bound.split('.')
  return Math.max(0, part.replace(/0+$/, '').length - 2)
}
