// The table of roles is the one that docs/dashboard.md tells people, which a test of the server holds true.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { may, type Permission, ROLES, TABLE } from '../src/api/roles.ts'

test('roles may do what the documentation says', () => {
  const docs = readFileSync(new URL('../../../docs/dashboard.md', import.meta.url), 'utf8')
  const found: Record<string, string[]> = {}
  for (const line of docs.split('\n')) {
    const cells = line.split('|').map((cell) => cell.trim())
    if (cells.length !== 8 || !cells[1]?.startsWith('`')) continue
    for (const [, name] of cells[1].matchAll(/`([\w.]+)`/g)) found[name as string] = cells.slice(2, 7)
  }
  expect(found).toEqual(TABLE)
})

test('a mode that a role lacks is no', () => {
  expect(may('developer', 'sales.write', 'test')).toBe(true)
  expect(may('developer', 'sales.write', 'live')).toBe(false)
  for (const permission of Object.keys(TABLE) as Permission[]) expect(may('viewer', permission, 'live')).toBe(permission === 'read')
  expect(ROLES[0]).toBe('owner')
})
