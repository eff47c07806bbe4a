import { expect, test } from 'vitest'
import { href, match, place, read } from '../src/app/router.ts'
import { readLink } from '../src/screens/enter/link.tsx'

test('an address is a mode, a screen and its filters', () => {
  expect(place().mode).toBe('test')
  expect(place().path).toBe('/invoices')
  expect(place().query.get('status')).toBe('paid')
  expect(read('/dashboard', '')).toMatchObject({ mode: null, path: '/' })
  expect(read('/dashboard/live', '')).toMatchObject({ mode: 'live', path: '/' })
  expect(read('/dashboard/live/', '')).toMatchObject({ mode: 'live', path: '/' })
  expect(read('/dashboard/link', '')).toMatchObject({ mode: null, path: '/link' })
  expect(read('/dashboard/notices', '')).toMatchObject({ mode: null, path: '/notices' })
  expect(read('/dashboard/liveliness', '')).toMatchObject({ mode: null, path: '/liveliness' })
})

test('links stay in the mode that is shown', () => {
  expect(href('/')).toBe('/dashboard/test')
  expect(href('/invoices/inv_1')).toBe('/dashboard/test/invoices/inv_1')
  expect(href('/invoices', 'live')).toBe('/dashboard/live/invoices')
  expect(href('/sign-in', null)).toBe('/dashboard/sign-in')
})

test('parts of a path are found by their names', () => {
  expect(match('/invoices/:id', '/invoices/inv_1')).toEqual({ id: 'inv_1' })
  expect(match('/invoices/:id', '/invoices/a%2Fb')).toEqual({ id: 'a/b' })
  for (const path of ['/invoices', '/invoices/', '/invoices/a/b', '/refunds/a', '/invoices/%zz']) expect(match('/invoices/:id', path), path).toBeNull()
  expect(match('/', '/')).toEqual({})
})

test('a link is used only when it is whole', () => {
  const token = 'a'.repeat(43)
  expect(readLink(`#invite=${token}`)).toEqual({ kind: 'invite', token })
  expect(readLink(`#sign_in=${token}`)).toEqual({ kind: 'sign_in', token })
  for (const hash of ['', '#invite', '#invite=', '#invite=short', `#other=${token}`, `#invite=${token}&x`]) expect(readLink(hash), hash).toBeNull()
})
