/** What a browser calls itself, in the order in which they must be asked: many claim to be others as well. */
const BROWSERS: [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(HeadlessChrome|Chrome|Chromium|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const SYSTEMS: [RegExp, string][] = [
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** Browser and system by name; anything else as it called itself, cut short. */
export function browserOf(userAgent: string | null): string | null {
  if (!userAgent) return null
  const named = [BROWSERS, SYSTEMS].map((list) => list.find(([sign]) => sign.test(userAgent))?.[1])
  return named[0] ? named.filter(Boolean).join(', ') : userAgent.slice(0, 60)
}
