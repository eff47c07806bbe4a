// What the pages are built with: pinned, freely licensed, and named by what it is, not by where it came from.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Package {
  version: string
  license?: string
  integrity?: string
  resolved?: string
  dev?: boolean
}
const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'))
const own = read('package.json') as { dependencies: Record<string, string>; devDependencies: Record<string, string> }
const { '': _, ...locked } = (read('package-lock.json') as { packages: Record<string, Package> }).packages

/** What payers' browsers run may be used for anything; tools may also bind their own files. */
const FREE = ['MIT', 'Apache-2.0', 'BSD-3-Clause', 'ISC']
const TOOLS = [...FREE, 'MPL-2.0']

test('every package is pinned by its hash, and no place is named', () => {
  for (const [name, { integrity, resolved }] of Object.entries(locked)) {
    expect(integrity, name).toMatch(/^sha512-/)
    expect(resolved, name).toBeUndefined()
  }
  for (const version of Object.values({ ...own.dependencies, ...own.devDependencies })) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
})

test('every package has a licence that we take', () => {
  for (const [name, { license, dev }] of Object.entries(locked)) expect(dev ? TOOLS : FREE, name).toContain(license)
})

test('what payers’ browsers run is a handful of packages', () => {
  const shipped = Object.entries(locked).filter(([, one]) => !one.dev)
  expect(shipped.length).toBeLessThanOrEqual(8)
})
