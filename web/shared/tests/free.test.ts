// Nothing like an address is shown but the one that was computed.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { hash, withoutAddresses } from '../api/free.ts'
import { vectors } from './vectors.ts'

const { kept, cut } = JSON.parse(readFileSync(new URL('../../../testdata/free_text.json', import.meta.url), 'utf8')) as {
  kept: string[]
  cut: [string, string][]
}

test.each(kept)('“%s” is shown as it is', (said) => {
  expect(withoutAddresses(said)).toBe(said)
})

test.each(cut)('“%s” is shown without its address', (said, shown) => {
  expect(withoutAddresses(said)).toBe(shown)
})

test('every address that this page could ever show is like an address', () => {
  for (const { address, destination } of vectors.deposits) {
    expect(withoutAddresses(`For you: ${address}.`)).toBe('For you: […].')
    expect(withoutAddresses(address.replace(/.{4}/g, '$& '))).toContain('[…]')
    expect(withoutAddresses(destination)).toBe('[…]')
  }
})

test('a transaction’s id is no address, and an address no transaction’s id', () => {
  const id = `0x${'5a'.repeat(32)}`
  expect(hash(id)).toBe(id)
  expect(hash('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed')).toBe('[…]')
})
