// Where ids lead.

/** By what an id begins with. */
const PLACES: Record<string, string> = {
  inv_: '/invoices',
  rfd_: '/refunds',
  plink_: '/links',
  evt_: '/developers/events',
  cus_: '/customers',
  plan_: '/plans',
  sub_: '/subscriptions',
}

/** The screen of what has this id; null where the text is no id that has one. */
export function placeOf(id: string): string | null {
  const found = Object.entries(PLACES).find(([prefix]) => id.startsWith(prefix) && id.length > prefix.length)
  return found ? `${found[1]}/${encodeURIComponent(id)}` : null
}
