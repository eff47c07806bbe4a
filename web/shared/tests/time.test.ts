// Times of the clock, at night too: what the browser's tests see depends on when they run.

import { afterEach, expect, test, vi } from 'vitest'
import { clock } from '../time.ts'

const night = new Date(2026, 10, 18, 0, 46)

afterEach(() => vi.unstubAllGlobals())

test.each([
  ['en-US', '12:46 AM'],
  ['en-GB', '00:46'],
])('%s: an hour after midnight is written as there', (locale, written) => {
  vi.stubGlobal('navigator', { languages: [locale] })
  expect(clock(night.toISOString(), night.getTime()).replaceAll('\u202f', ' ')).toBe(written)
})

test('on another day the day is told with it', () => {
  vi.stubGlobal('navigator', { languages: ['en-GB'] })
  expect(clock(night.toISOString(), night.getTime() + 24 * 3_600_000)).toMatch(/^18 Nov,? (at )?00:46$/)
})
