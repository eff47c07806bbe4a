// What each role may do, as docs/dashboard.md says it; a test holds the two together. The server decides.

import type { Mode } from '../app/router.ts'

export const ROLES = ['owner', 'admin', 'developer', 'support', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** For each role in that order: T in test mode, L in live mode, - not at all. */
export const TABLE = {
  read: ['TL', 'TL', 'TL', 'TL', 'TL'],
  'sales.write': ['TL', 'TL', 'T', 'TL', '-'],
  'refunds.write': ['TL', 'TL', 'T', 'TL', '-'],
  'reviews.reject': ['TL', 'TL', 'T', 'TL', '-'],
  'reviews.accept': ['TL', 'TL', 'T', '-', '-'],
  'webhooks.write': ['TL', 'TL', 'T', '-', '-'],
  'settings.write': ['TL', 'TL', 'T', '-', '-'],
  'keys.write': ['TL', 'TL', 'T', '-', '-'],
  'changes.cancel': ['TL', 'TL', 'T', '-', '-'],
  'webhooks.replay': ['TL', 'TL', 'TL', 'TL', '-'],
  'keys.read': ['TL', 'TL', 'TL', '-', '-'],
  'destinations.write': ['TL', 'T', 'T', '-', '-'],
  test_helpers: ['T', 'T', 'T', 'T', '-'],
  'members.write': ['TL', 'TL', '-', '-', '-'],
  'organization.write': ['TL', 'TL', '-', '-', '-'],
  'audit.read': ['TL', 'TL', '-', '-', '-'],
  'application.write': ['TL', '-', '-', '-', '-'],
} as const satisfies Record<string, readonly string[]>

export type Permission = keyof typeof TABLE

export function may(role: Role, permission: Permission, mode: Mode): boolean {
  const granted: string = TABLE[permission][ROLES.indexOf(role)] ?? '-'
  return granted.includes(mode === 'test' ? 'T' : 'L')
}

/** What an owner may give: every role; others every one but the owner's. */
export const rolesToGive = (mine: string | null | undefined) => ROLES.filter((role) => mine === 'owner' || role !== 'owner')
