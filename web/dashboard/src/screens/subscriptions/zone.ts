// Moments in the time zone that a plan is billed in: a period ends there, wherever the reader is.

const FORM = { day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23', numberingSystem: 'latn', calendar: 'gregory' } as const

/** The moment and the zone; in UTC where this browser does not know the zone. */
export function inZone(at: string, zone: string, locale = 'en-GB'): string {
  const written = (timeZone: string) => `${new Intl.DateTimeFormat(locale, { ...FORM, timeZone }).format(new Date(at))} (${timeZone})`
  try {
    return written(zone)
  } catch {
    return written('UTC')
  }
}
