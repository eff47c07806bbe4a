import { describe, expect, test } from 'vitest'
import type { AddressDerivation } from '../api/types.ts'
import { deriveEvm } from '../chain/evm.ts'
import { networks } from '../chain/networks.ts'
import { readPayee } from '../chain/payee.ts'
import { deriveTron } from '../chain/tron.ts'
import { type Offer, verify } from '../chain/verify.ts'
import { type Deposit, vectors } from './vectors.ts'

const SYMBOLS: Record<string, string> = { eip155: 'USDC', tron: 'USDT', bip122: 'BTC', solana: 'USDC' }
const namespace = (network: string) => network.split(':')[0] as string

function offer(deposit: Deposit): Offer {
  const symbol = SYMBOLS[namespace(deposit.network)] as string
  const { network, address, derivation } = deposit
  return { asset: `${symbol}@${network}`, symbol, network, address, address_derivation: derivation }
}

const pinned = (deposit: Deposit) => ({ destinations: { [deposit.network]: deposit.destination } })

/** Every other text of the same length that differs in one character, and a shorter and a longer one. */
function* neighbours(text: string): Generator<string> {
  for (let at = 0; at < text.length; at++) {
    const now = text[at] as string
    const turned = now === now.toLowerCase() ? now.toUpperCase() : now.toLowerCase()
    for (const other of new Set([turned, now === '2' ? '3' : '2', now === 'b' ? 'c' : 'b'])) {
      if (other !== now) yield text.slice(0, at) + other + text.slice(at + 1)
    }
  }
  yield text.slice(0, -1)
  yield `${text}0`
  yield ''
}

/** One of each family is enough for the long walks over every character. */
const samples = ['eip155', 'tron', 'bip122'].map(
  (family) => vectors.deposits.find((deposit) => namespace(deposit.network) === family) as Deposit,
)

describe('the golden vectors', () => {
  test('hold the forwarder that this page is built with', () => {
    for (const { derivation, address } of vectors.create2) {
      if (!('factory' in derivation)) throw new Error(`not a forwarder: ${derivation.scheme}`)
      const derive = derivation.scheme === 'create2_forwarder_v1' ? deriveEvm : deriveTron
      expect(derive(derivation.factory, derivation.salt, derivation.destination)).toBe(address)
    }
  })

  test('every deposit address is computed again and found to be the merchant’s', async () => {
    expect(new Set(vectors.deposits.map((deposit) => namespace(deposit.network)))).toContain('bip122')
    for (const deposit of vectors.deposits) {
      if (namespace(deposit.network) === 'solana') continue
      const verdict = await verify(offer(deposit), pinned(deposit))
      expect(verdict, deposit.network).toMatchObject({ kind: 'checked', address: deposit.address })
    }
  })

  test('addresses that people type are read as the server reads them', async () => {
    for (const { network, text, canonical } of vectors.addresses) {
      expect(await readPayee(network, text), text).toBe(canonical)
    }
  })
})

describe('tampering', () => {
  test.each(samples)('with any character of the address on $network is noticed', async (deposit) => {
    for (const address of neighbours(deposit.address)) {
      const verdict = await verify({ ...offer(deposit), address }, pinned(deposit))
      expect(verdict, address).toEqual({ kind: 'mismatch' })
    }
  })

  test.each(samples)('with any character of any field of the derivation on $network is noticed', async (deposit) => {
    for (const [field, value] of Object.entries(deposit.derivation)) {
      for (const other of neighbours(value)) {
        const derivation = { ...deposit.derivation, [field]: other } as AddressDerivation
        const verdict = await verify({ ...offer(deposit), address_derivation: derivation }, pinned(deposit))
        expect(verdict, `${field}: ${other}`).toEqual({ kind: 'mismatch' })
      }
    }
  })

  test.each(samples)('by leaving a field of the derivation on $network out is noticed', async (deposit) => {
    for (const field of Object.keys(deposit.derivation)) {
      const derivation = Object.fromEntries(Object.entries(deposit.derivation).filter(([name]) => name !== field))
      const verdict = await verify(
        { ...offer(deposit), address_derivation: derivation as AddressDerivation },
        pinned(deposit),
      )
      expect(verdict, field).toEqual({ kind: 'mismatch' })
    }
    expect(await verify({ ...offer(deposit), address_derivation: null }, pinned(deposit))).toEqual({ kind: 'mismatch' })
  })

  test.each(samples)('with the pin on $network, or with another merchant’s honest address, is noticed', async (deposit) => {
    for (const destination of neighbours(deposit.destination)) {
      const verdict = await verify(offer(deposit), { destinations: { [deposit.network]: destination } })
      // A pin in lower case is the same EVM address; nothing else that differs is.
      const isSame = destination.toLowerCase() === deposit.destination.toLowerCase() && destination === destination.toLowerCase()
      if (!isSame) expect(verdict, destination).toEqual({ kind: 'mismatch' })
    }
  })

  test('an address that follows from another factory is refused, even if it is computed rightly', async () => {
    const deposit = samples[0] as Deposit
    const derivation = deposit.derivation as Extract<AddressDerivation, { scheme: 'create2_forwarder_v1' }>
    const factory = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
    const address = deriveEvm(factory, derivation.salt, derivation.destination) as string
    const forged = { ...offer(deposit), address, address_derivation: { ...derivation, factory } }
    expect(await verify(forged, pinned(deposit))).toEqual({ kind: 'mismatch' })
  })

  test('an offer that is moved to another network or asset is refused or not shown', async () => {
    for (const deposit of samples) {
      for (const network of Object.keys(networks)) {
        const moved = { ...offer(deposit), network }
        expect(await verify(moved, pinned(deposit)), network).toEqual(
          network === deposit.network ? expect.objectContaining({ kind: 'checked' }) : { kind: 'mismatch' },
        )
        const renamed = { ...moved, asset: `${moved.symbol}@${network}` }
        const verdict = await verify(renamed, { destinations: { [namespace(deposit.network)]: deposit.destination } })
        if (namespace(network) !== namespace(deposit.network)) expect(verdict).toEqual({ kind: 'unpinned' })
      }
    }
  })
})

test('a network that is named like a part of the language is unknown', async () => {
  for (const network of ['constructor', '__proto__', 'toString']) {
    const odd = { ...offer(samples[0] as Deposit), network, asset: `USDC@${network}` }
    expect(await verify(odd, { destinations: { [network]: 'x' } })).toEqual({ kind: 'unpinned' })
  }
})

describe('pins', () => {
  const [evm, tron, bitcoin] = samples as [Deposit, Deposit, Deposit]

  test('nothing is shown for a network that has none', async () => {
    expect(await verify(offer(evm), { destinations: {} })).toEqual({ kind: 'unpinned' })
    expect(await verify(offer(evm), pinned(tron))).toEqual({ kind: 'unpinned' })
  })

  test('may be given for a family, and the network’s own one wins', async () => {
    expect(await verify(offer(evm), { destinations: { eip155: evm.destination } })).toMatchObject({ kind: 'checked' })
    const other = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
    const both = { destinations: { eip155: evm.destination, [evm.network]: other } }
    expect(await verify(offer(evm), both)).toEqual({ kind: 'mismatch' })
  })

  test('may be several while a destination is being changed', async () => {
    const other = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
    const both = { destinations: { eip155: [other, evm.destination] } }
    expect(await verify(offer(evm), both)).toMatchObject({ kind: 'checked', destination: evm.destination })
  })

  test('know TRON’s networks by both of their names', async () => {
    const alias = { destinations: { 'tron:0xcd8690dc': tron.destination } }
    expect(await verify(offer(tron), alias)).toMatchObject({ kind: 'checked' })
  })

  test('may name the account’s key as zpub or vpub, but not a key of the other network', async () => {
    const live = vectors.deposits.find((d) => d.destination.startsWith('zpub')) as Deposit
    expect(await verify(offer(live), pinned(live))).toMatchObject({ kind: 'checked' })
    const wrong = { destinations: { [live.network]: bitcoin.destination } }
    expect(await verify(offer(live), wrong)).toEqual({ kind: 'mismatch' })
  })

  test('where no factory is known, nothing is shown until the configuration names one', async () => {
    const network = 'tron:728126428'
    const derivation = tron.derivation as Extract<AddressDerivation, { scheme: 'tron_create2_forwarder_v1' }>
    const moved = { ...offer(tron), network, asset: `USDT@${network}` }
    const destinations = { tron: tron.destination }
    expect(await verify(moved, { destinations })).toEqual({ kind: 'unpinned' })
    const factories = { [network]: derivation.factory }
    expect(await verify(moved, { destinations, factories })).toMatchObject({ kind: 'checked' })
  })
})
