import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { paramOf } from '../src/api/problem.ts'
import { placeOf } from '../src/screens/notices/places.ts'
import { changed, percent, readPercent } from '../src/screens/settings/values.ts'
import { enSetup } from '../src/texts/en.ts'

test('percent is written and read without rounding', () => {
  for (const [hundredths, text] of [
    [0, '0'],
    [1, '0.01'],
    [50, '0.5'],
    [100, '1'],
    [1234, '12.34'],
    [2000, '20'],
    [10_000, '100'],
  ] as const) {
    expect(percent(hundredths)).toBe(text)
    expect(readPercent(text)).toBe(hundredths)
  }
  expect(readPercent(' ')).toBeNull()
  expect(readPercent('0,5')).toBe(50)
})

test('what is no percentage is refused at its field', () => {
  for (const wrong of ['-1', '0.001', '101', '1e1', 'half']) {
    try {
      readPercent(wrong)
      expect.unreachable(wrong)
    } catch (error) {
      expect(paramOf(error)).toBe('underpay_tolerance_bps')
    }
  }
})

test('only what is different is sent', () => {
  expect(changed({ a: null, b: ['x'], c: 5 }, { a: null, b: ['x'], c: 5 })).toEqual({})
  expect(changed({ a: 'old', b: ['x'], c: 5 }, { a: null as never, b: ['x', 'y'], c: 5 })).toEqual({ a: null, b: ['x', 'y'] })
})

test('every action of the audit log has its words', () => {
  const code = readFileSync(new URL('../../../crates/core/src/actor.rs', import.meta.url), 'utf8')
  const actions = [...code.matchAll(/Action::\w+ => "([\w.]+)"/g)].map(([, name]) => name as string)
  expect(actions.length).toBeGreaterThan(30)
  expect(Object.keys(enSetup.audit.actions).sort()).toEqual(actions.sort())
})

test('a notice leads to what it is about', () => {
  expect(placeOf({ kind: 'application.submitted', target: 'app_1' })).toBe('/operator/applications/app_1')
  expect(placeOf({ kind: 'passkey.added', target: 'psk_1' })).toBe('/security')
  for (const kind of ['review.opened', 'review.resolved']) {
    expect(placeOf({ kind, target: 'inv_1' })).toBe('/invoices/inv_1')
  }
  expect(placeOf({ kind: 'unheard.of', target: 'x' })).toBeNull()
})
