// The curve of Bitcoin's keys, held against a library that knows all of it.

import { sha256 } from '@noble/hashes/sha2.js'
import { HDKey } from '@scure/bip32'
import { expect, test } from 'vitest'
import { deriveBitcoin } from '../chain/bitcoin.ts'
import { fromHex, toHex } from '../chain/bytes.ts'
import { ORDER, tweaked } from '../chain/secp256k1.ts'
import { ripemd160 } from '@noble/hashes/legacy.js'
import { bech32 } from '@scure/base'

const key = (hex: string) => fromHex(`0x${hex}`, hex.length / 2) as Uint8Array
const G = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
const hex = (bytes: Uint8Array | null) => bytes && toHex(bytes)

test('an account’s addresses are those that another program computes', () => {
  for (let number = 0; number < 20; number++) {
    const account = HDKey.fromMasterSeed(sha256(Uint8Array.of(number))).derive("m/84'/0'/0'")
    for (const index of [0, 1, 7 * number + 2, 2 ** 31 - 1 - number]) {
      const child = account.deriveChild(0).deriveChild(index).publicKey as Uint8Array
      const address = bech32.encode('bc', [0, ...bech32.toWords(ripemd160(sha256(child)))])
      expect(deriveBitcoin(account.publicExtendedKey, `0/${index}`, true, 'bc'), `${number}/${index}`).toBe(address)
    }
  }
})

test('multiples of the generator, around both ends', () => {
  const twice = '02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5'
  expect(hex(tweaked(key(G), 0n))).toBe(G)
  expect(hex(tweaked(key(G), 1n))).toBe(twice)
  // All but one of them, and one more, is none; with two more it begins anew.
  expect(tweaked(key(G), ORDER - 1n)).toBeNull()
  expect(hex(tweaked(key(twice), ORDER - 1n))).toBe(G)
  expect(hex(tweaked(key(G.replace(/^02/, '03')), 1n))).toBeNull()
})

test('what is no point or no number is refused', () => {
  const none = [G.slice(2), `04${G.slice(2)}`, `00${G.slice(2)}`, `${G}00`, `02${'00'.repeat(32)}`, `02${'ff'.repeat(32)}`, `02${'00'.repeat(31)}05`]
  for (const wrong of none) expect(tweaked(key(wrong), 1n), wrong).toBeNull()
  expect(tweaked(key(G), ORDER)).toBeNull()
})
