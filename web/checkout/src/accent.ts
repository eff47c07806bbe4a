// The merchant's one colour, made safe to read: whatever it is, text on it and text in it keep their contrast.

type Rgb = readonly [number, number, number]

interface Theme {
  surface: Rgb
  bg: Rgb
  sunken: Rgb
}

const rgb = (hex: string): Rgb => {
  const long = hex.length === 4 ? hex.replace(/[0-9a-f]/gi, '$&$&') : hex
  return [1, 3, 5].map((at) => Number.parseInt(long.slice(at, at + 2), 16)) as unknown as Rgb
}
const hex = (colour: Rgb) => `#${colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`

/** The same as in style/tokens.css; a test holds them together. */
export const LIGHT: Theme = { surface: rgb('#ffffff'), bg: rgb('#f6f5f1'), sunken: rgb('#f0eee8') }
export const DARK: Theme = { surface: rgb('#1a1d20'), bg: rgb('#111315'), sunken: rgb('#23272b') }
const WHITE = rgb('#ffffff')
const BLACK = rgb('#000000')

/** Relative luminance and contrast as WCAG 2 defines them. */
function luminance(colour: Rgb): number {
  const [r, g, b] = colour.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as unknown as Rgb
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
export function contrast(a: Rgb, b: Rgb): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}
const mix = (a: Rgb, b: Rgb, share: number): Rgb =>
  a.map((part, at) => part + ((b[at] as number) - part) * share) as unknown as Rgb

/** Steps of a twentieth towards black or white until it is enough. */
function until(colour: Rgb, towards: Rgb, enough: (candidate: Rgb) => boolean): Rgb {
  let made = colour
  for (let step = 1; !enough(made) && step <= 20; step++) made = mix(colour, towards, step * 0.05)
  return made
}

export function guard(accent: string, theme: Theme, isDark: boolean) {
  const given = rgb(accent)
  const fill = isDark ? until(given, WHITE, (colour) => contrast(colour, theme.surface) >= 3) : given
  const worst = (colour: Rgb) =>
    Math.min(contrast(colour, theme.surface), contrast(colour, theme.bg), contrast(colour, theme.sunken))
  const ink = until(fill, isDark ? WHITE : BLACK, (colour) => worst(colour) >= 5.5)
  // A pale colour is kept and gets an edge.
  const needsEdge = contrast(fill, theme.surface) < 3
  return {
    fill: hex(fill),
    on: contrast(WHITE, fill) >= 4.5 ? '#ffffff' : '#000000',
    ink: hex(ink),
    edge: needsEdge ? hex(ink) : 'transparent',
  }
}

/** Anything but #rgb and #rrggbb is ignored. */
export const isColour = (text: string | null): text is string => text !== null && /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text)

/** Colours the page, now and whenever the system changes between light and dark. */
export function paint(accent: string | null): void {
  if (!isColour(accent)) return
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  const apply = () => {
    const { fill, on, ink, edge } = guard(accent, scheme.matches ? DARK : LIGHT, scheme.matches)
    const { style } = document.documentElement
    style.setProperty('--accent', fill)
    style.setProperty('--on-accent', on)
    style.setProperty('--accent-ink', ink)
    style.setProperty('--accent-edge', edge)
  }
  apply()
  scheme.addEventListener('change', apply)
}
