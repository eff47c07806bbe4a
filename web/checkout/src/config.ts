// The page's own configuration: config.json beside it. On a merchant's own host it is a file that pins the
// merchant's destinations; the payment server makes one for whoever's publishable key it is asked with.

import type { PinConfig } from '#shared/chain/pins.ts'
import { free } from '#shared/api/free.ts'
import { list, maybe, type Reader, record, text, Unreadable } from '#shared/api/read.ts'
import { Refused } from '#shared/api/ask.ts'

export interface Config extends PinConfig {
  api: string
  key: string | null
  merchant: string | null
  supportUrl: string | null
  returnUrl: string | null
  returnOrigins: string[]
  logo: string | null
  accent: string | null
  locales: string[]
  /** The payment server serves this page itself: it is as trustworthy as the server, and says so. */
  isHosted: boolean
  /** The demonstration server, where payments can be simulated by whoever looks at the page. */
  isDemo: boolean
}

const yes: Reader<boolean> = (value) => value === true

const texts: Reader<Record<string, string>> = (value) => {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object') throw new Unreadable('map')
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, text(one)]))
}

const destinations: Reader<Record<string, string | string[]>> = (value) => {
  if (typeof value !== 'object' || value === null) throw new Unreadable('destinations')
  const entries = Object.entries(value as Record<string, unknown>)
  return Object.fromEntries(entries.map(([name, one]) => [name, Array.isArray(one) ? one.map(text) : text(one)]))
}

const file = record({
  v: (value) => {
    if (value !== 1) throw new Unreadable('a version this page knows')
    return value
  },
  api: text,
  key: maybe(text),
  merchant: maybe(free),
  support_url: maybe(text),
  return_url: maybe(text),
  return_origins: maybe(list(text)),
  logo: maybe(text),
  accent: maybe(text),
  locales: maybe(list(text)),
  destinations,
  factories: texts,
  hosted: yes,
  demo: yes,
})

/** A link that may be followed from here. `mailto:` is how many shops are asked. */
export function safeLink(link: string | null): string | null {
  return link !== null && /^(https?:\/\/|mailto:)/i.test(link) ? link : null
}

export function readConfig(value: unknown, place: URL): Config {
  const read = file(value)
  return {
    api: new URL(read.api, place).href,
    key: read.key,
    merchant: read.merchant,
    supportUrl: safeLink(read.support_url),
    returnUrl: safeLink(read.return_url),
    returnOrigins: read.return_origins ?? [],
    logo: read.logo === null ? null : new URL(read.logo, place).href,
    accent: read.accent,
    locales: read.locales ?? [],
    destinations: read.destinations,
    factories: read.factories,
    isHosted: read.hosted,
    isDemo: read.demo,
  }
}

/**
 * Fetches config.json from beside the page. The key lets a server that has many merchants know which, and so does the token
 * of a refund, which goes where no log and no history keeps it.
 */
export async function loadConfig(place: URL, key: string | null, claim: string | null): Promise<Config> {
  const url = new URL(place)
  if (key !== null) url.searchParams.set('key', key)
  const headers: Record<string, string> = claim ? { 'x-refund-claim': claim } : {}
  const response = await fetch(url, { headers, credentials: 'omit', cache: 'no-cache' }).catch(() => null)
  if (!response) throw new Refused(0, 'offline', null)
  const body: unknown = await response.json().catch(() => null)
  if (response.ok) return readConfig(body, place)
  // Whose refund it would be is nobody's to say where there is none; the page says that itself.
  if (claim) return loadConfig(place, key, null)
  // The payment server refuses in its own words. A host that has no such file leaves a page that was not set up.
  const code = (body as { error?: { code?: unknown } } | null)?.error?.code
  throw typeof code === 'string' ? new Refused(response.status, code, null) : new Refused(500, 'config', null)
}

const origin = (link: string | null, schemes: RegExp) => (link !== null && schemes.test(link) && URL.canParse(link) ? new URL(link).origin : null)

/**
 * Where "return to the shop" leads: what the shop's own link asked for, or else what the invoice says. A page with a
 * configuration of its own lets nobody lead its payers elsewhere than that allows.
 */
export function returnLink(config: Config, asked: string | null, said: string | null): string | null {
  const wanted = origin(asked, /^https:/)
  if (wanted !== null && config.returnOrigins.includes(wanted)) return asked
  const known = origin(said, /^https?:/)
  const isAllowed = config.isHosted || [...config.returnOrigins, origin(config.returnUrl, /^https?:/)].includes(known)
  return known !== null && isAllowed ? said : config.returnUrl
}
