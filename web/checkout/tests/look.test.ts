// What the style promises, computed.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { contrast, DARK, guard, isColour, LIGHT } from '../src/accent.ts'
import { groups } from '#shared/parts/address.tsx'
import { vectors } from '#shared/tests/vectors.ts'

const css = readFileSync(new URL('../../shared/style/tokens.css', import.meta.url), 'utf8')
type Rgb = readonly [number, number, number]
const rgb = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb

function tokens(theme: 'light' | 'dark'): Record<string, string> {
  const [light = '', dark = ''] = css.split('@media (prefers-color-scheme: dark)')
  const read = (part: string) => [...part.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map((match) => [match[1], match[2]])
  return Object.fromEntries([...read(light), ...(theme === 'dark' ? read(dark) : [])])
}

test.each(['light', 'dark'] as const)('%s text keeps 4.5:1 on every ground, edges of controls 3:1', (theme) => {
  const colours = tokens(theme)
  const against = (a: string, b: string) => contrast(rgb(colours[a] as string), rgb(colours[b] as string))
  for (const ground of ['surface', 'bg', 'sunken']) {
    for (const text of ['ink', 'ink-2']) expect(against(text, ground), `${text} on ${ground}`).toBeGreaterThan(4.5)
    for (const edge of ['edge', 'focus']) expect(against(edge, ground), `${edge} on ${ground}`).toBeGreaterThan(3)
  }
  for (const tone of ['ok', 'info', 'warn', 'bad']) {
    expect(against(tone, `${tone}-bg`), tone).toBeGreaterThan(4.5)
    expect(against('ink', `${tone}-bg`), tone).toBeGreaterThan(4.5)
  }
  expect(against('surface', 'test')).toBeGreaterThan(4.5)
})

test('the guard knows the colours of the style', () => {
  for (const [theme, known] of [
    ['light', LIGHT],
    ['dark', DARK],
  ] as const) {
    const { surface, bg, sunken } = tokens(theme)
    expect(known).toEqual({ surface: rgb(surface as string), bg: rgb(bg as string), sunken: rgb(sunken as string) })
  }
})

test('whatever colour a merchant has, its text and its edges can be read', () => {
  const parts = ['00', '33', '66', '99', 'cc', 'ff']
  const all = parts.flatMap((r) => parts.flatMap((g) => parts.map((b) => `#${r}${g}${b}`)))
  for (const [theme, isDark] of [
    [LIGHT, false],
    [DARK, true],
  ] as const) {
    for (const accent of all) {
      const made = guard(accent, theme, isDark)
      expect(contrast(rgb(made.on), rgb(made.fill)), `text on ${accent}`).toBeGreaterThanOrEqual(4.5)
      for (const ground of [theme.surface, theme.bg, theme.sunken]) {
        expect(contrast(rgb(made.ink), ground), `${accent} as text`).toBeGreaterThanOrEqual(4.5)
      }
      const edge = made.edge === 'transparent' ? made.fill : made.edge
      expect(contrast(rgb(edge), theme.surface), `edge of ${accent}`).toBeGreaterThanOrEqual(2.99)
    }
  }
})

test('the guard gives what the design computed', () => {
  expect(guard('#0f5c6e', LIGHT, false)).toEqual({ fill: '#0f5c6e', on: '#ffffff', ink: '#0f5c6e', edge: 'transparent' })
  expect(guard('#0f5c6e', DARK, true)).toEqual({ fill: '#337484', on: '#ffffff', ink: '#7aa5af', edge: 'transparent' })
  expect(guard('#ffd400', LIGHT, false)).toEqual({ fill: '#ffd400', on: '#000000', ink: '#665500', edge: '#665500' })
})

test('anything but a plain colour is ignored', () => {
  for (const good of ['#0a5', '#0f5c6e', '#ABC']) expect(isColour(good)).toBe(true)
  for (const bad of [null, '', 'red', '#12', '#12345', '#1234567', 'url(x)', '#0a5;', 'var(--bad)']) expect(isColour(bad)).toBe(false)
})

test('an address is read in groups that make a rectangle and say the whole of it', () => {
  for (const { address } of vectors.deposits) {
    const parts = groups(address)
    expect(parts.join('')).toBe(address)
    expect([5, 4].some((columns) => parts.length % columns === 0)).toBe(true)
    expect(parts.slice(1).every((part) => part.length === 4)).toBe(true)
  }
  expect(groups('0xEee65f53E9421Ce50211670eAe679f02e8d28A79')[0]).toBe('0xEee6')
})
