import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { countries, countryName } from '../src/screens/application/countries.ts'

test('the countries offered are those that the server knows', () => {
  const code = readFileSync(new URL('../../../crates/core/src/country.rs', import.meta.url), 'utf8')
  const known = (/const [A-Z_]+: [^=]*=\s*([\s\S]*?);/.exec(code)?.[1] ?? '').match(/\b[A-Z]{2}\b/g) ?? []
  expect(known.length).toBeGreaterThan(200)
  expect(
    countries()
      .map(([one]) => one)
      .sort(),
  ).toEqual([...known].sort())
})

test('a code that is none is shown as it is', () => {
  expect(countryName('PT')).toBe('Portugal')
  for (const other of ['', 'pt', '<b>', 'ÄÖ']) expect(countryName(other)).toBe(other)
})
