// Moments in the time zone that a plan is billed in: a period ends there, wherever the reader is.

const DAY = { day: 'numeric', month: 'short', year: 'numeric', numberingSystem: 'latn', calendar: 'gregory' } as const
const MOMENT = { ...DAY, month: 'long', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const

/** In UTC where this browser does not know the zone. */
function written(at: string, zone: string, form: Intl.DateTimeFormatOptions, locale: string): [text: string, zone: string] {
  const inZone = (timeZone: string) => new Intl.DateTimeFormat(locale, { ...form, timeZone }).format(new Date(at))
  try {
    return [inZone(zone), zone]
  } catch {
    return [inZone('UTC'), 'UTC']
  }
}

/** The moment and the zone. */
export function inZone(at: string, zone: string, locale = 'en-GB'): string {
  const [text, known] = written(at, zone, MOMENT, locale)
  return `${text} (${known})`
}

export const dayInZone = (at: string, zone: string, locale = 'en-GB') => written(at, zone, DAY, locale)[0]
