// Countries by ISO 3166-1, named by the browser in its own language.

const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

export const countryName = (code: string): string => (/^[A-Z]{2}$/.test(code) ? (names.of(code) ?? code) : code)

/** Browsers have names for these, too: codes of former countries, of unions and of parts of countries. */
const OTHERS = 'AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC NH QO RH SU TA TP UK UN VD XA XB XK YD YU ZR ZZ'

/** Code and name, by name. */
export function countries(): [string, string][] {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  return letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => names.of(code) !== undefined && !OTHERS.includes(code))
    .map((code): [string, string] => [code, countryName(code)])
    .sort(([, a], [, b]) => a.localeCompare(b, 'en'))
}
