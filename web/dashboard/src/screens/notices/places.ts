import type { Notice } from '#shared/api/types.ts'

/** Where one sees what a notice is about, by what its kind begins with. */
const PLACES: Record<string, string> = {
  change: '/destinations',
  application: '/application',
  member: '/team',
  api_key: '/developers/keys',
  key: '/developers/keys',
  webhook: '/developers',
  passkey: '/security',
  totp: '/security',
  account: '/security',
}

export function placeOf({ kind, target }: Pick<Notice, 'kind' | 'target'>): string | null {
  if (kind === 'application.submitted') return `/operator/applications/${target}`
  if (kind.startsWith('review.')) return `/invoices/${target}`
  return PLACES[kind.split('.')[0] ?? ''] ?? null
}
