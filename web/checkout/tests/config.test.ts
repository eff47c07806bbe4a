import { expect, test } from 'vitest'
import { readConfig, returnLink, safeLink } from '../src/config.ts'
import { route } from '../src/route.ts'

const place = new URL('https://shop.example/pay/config.json')
const least = { v: 1, api: 'https://till.example', destinations: {} }

test('the least configuration is enough', () => {
  const read = readConfig(least, place)
  expect(read).toMatchObject({ api: 'https://till.example/', key: null, isHosted: false, isDemo: false, locales: [] })
})

test('the server that hosts the pages is found from where they lie', () => {
  expect(readConfig({ ...least, api: '..', hosted: true }, place)).toMatchObject({ api: 'https://shop.example/', isHosted: true })
})

test('what is no configuration is refused, not guessed at', () => {
  for (const wrong of [null, [], {}, { ...least, v: 2 }, { ...least, destinations: { eip155: 1 } }, { ...least, destinations: null }, { ...least, api: 3 }]) {
    expect(() => readConfig(wrong, place)).toThrow()
  }
})

test('only links that lead to a page or a mailbox are followed', () => {
  for (const good of ['https://shop.example/', 'http://localhost/', 'mailto:help@shop.example']) expect(safeLink(good)).toBe(good)
  for (const bad of [null, 'javascript:alert(1)', 'data:text/html,x', '//shop.example', ' https://shop.example', 'JAVASCRIPT:x']) expect(safeLink(bad)).toBeNull()
})

test('the payer is sent back only where the configuration allows', () => {
  const config = readConfig({ ...least, return_url: 'https://shop.example/', return_origins: ['https://shop.example'] }, place)
  expect(returnLink(config, 'https://shop.example/thanks?order=1', null)).toBe('https://shop.example/thanks?order=1')
  for (const asked of [null, 'https://evil.example/', 'https://shop.example.evil.example/', 'javascript:alert(1)', 'http://shop.example/', 'not a url']) {
    expect(returnLink(config, asked, null), String(asked)).toBe('https://shop.example/')
    // Nor does an answer lead elsewhere.
    expect(returnLink(config, null, asked), String(asked)).toBe('https://shop.example/')
  }
  expect(returnLink(config, null, 'https://shop.example/thanks')).toBe('https://shop.example/thanks')
})

test('on the page of the payment server the invoice says where to go', () => {
  const config = readConfig({ ...least, hosted: true, return_url: 'https://shop.example/' }, place)
  expect(returnLink(config, null, 'http://localhost:3000/inv_1')).toBe('http://localhost:3000/inv_1')
  expect(returnLink(config, null, null)).toBe('https://shop.example/')
  for (const said of ['javascript:alert(1)', 'data:text/html,x', 'not a url']) expect(returnLink(config, null, said)).toBe('https://shop.example/')
  // Whoever made up a link to the page leads nobody anywhere.
  expect(returnLink(config, 'https://evil.example/', null)).toBe('https://shop.example/')
})

test('a page is told by the end of its path, wherever the pages were put', () => {
  expect(route('/checkout/i/inv_01')).toEqual({ page: 'invoice', id: 'inv_01' })
  expect(route('/i/inv_01/')).toEqual({ page: 'invoice', id: 'inv_01' })
  expect(route('/a/b/l/abcDEF_-9')).toEqual({ page: 'link', slug: 'abcDEF_-9' })
  expect(route('/r/token')).toEqual({ page: 'refund', token: 'token' })
  for (const none of ['/', '/checkout/', '/checkout/i/', '/i/../x', '/i/a b', '/x/inv_1', '/i/inv_1/more']) {
    expect(route(none), none).toEqual({ page: 'none' })
  }
})
