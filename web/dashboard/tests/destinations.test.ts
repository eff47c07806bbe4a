// Destinations are computed again in the page before they are shown.

import { describe, expect, test } from 'vitest'
import { deriveBitcoin } from '../../shared/chain/bitcoin.ts'
import { vectors } from '../../shared/tests/vectors.ts'
import { isFamily, readDestination } from '../src/screens/destinations/families.ts'

const EVM = '0x8ba1f109551bD432803012645Ac136ddd64DBA72'

describe('a destination', () => {
  test('is written in its one right form, or is none', async () => {
    expect(await readDestination('eip155', 'live', EVM.toLowerCase())).toEqual({ address: EVM, first: null })
    expect(await readDestination('eip155', 'live', EVM)).toEqual({ address: EVM, first: null })
    for (const wrong of ['', '0x', EVM.slice(0, -1), EVM.replace('bD', 'Bd'), `0x${'0'.repeat(40)}`, `<b>${EVM}`]) expect(await readDestination('eip155', 'live', wrong)).toBeNull()
    for (const family of ['tron', 'bip122', 'solana'] as const) expect(await readDestination(family, 'live', EVM)).toBeNull()
  })

  test('of Bitcoin is an account key of its own mode, shown with its first address', async () => {
    const deposit = vectors.deposits.find((one) => one.destination.startsWith('zpub') && one.derivation.scheme === 'bip84_v1')
    if (deposit?.derivation.scheme !== 'bip84_v1') throw new Error('the golden file has no Bitcoin deposit')
    const key = deposit.derivation.account_xpub
    const first = { address: key, first: deriveBitcoin(key, '0/0', true, 'bc') }
    expect(first.first).toMatch(/^bc1q/)
    expect(await readDestination('bip122', 'live', deposit.destination)).toEqual(first)
    expect(await readDestination('bip122', 'live', key)).toEqual(first)
    expect(await readDestination('bip122', 'test', key)).toBeNull()
  })

  test('has a kind that is known', () => {
    expect(isFamily('eip155')).toBe(true)
    for (const other of ['', 'evm', 'constructor', '__proto__']) expect(isFamily(other)).toBe(false)
  })
})
