import { expect, test } from 'vitest'
import { browserOf } from '../src/screens/security/browser.ts'

test('browsers are called by their names, whatever else they claim to be', () => {
  const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36'
  expect(browserOf(chrome)).toBe('Chrome, Linux')
  expect(browserOf(`${chrome} Edg/156.0.0.0`)).toBe('Edge, Linux')
  expect(browserOf('Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1')).toBe('Safari, iOS')
  expect(browserOf('Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0')).toBe('Firefox, Windows')
  expect(browserOf(null)).toBeNull()
  expect(browserOf('x'.repeat(500))).toHaveLength(60)
})
