import { afterEach, expect, test, vi } from 'vitest'
import type { Customer } from '#shared/api/types.ts'
import { gather } from '../src/api/gather.ts'
import { isLike } from '../src/screens/customers/customers.tsx'

const ada = { id: 'cus_1', name: 'Ada Lovelace', email: 'ada@example.com', metadata: { shelf: 'B12' } } as unknown as Customer

test('a customer is found by any part of what is known of them', () => {
  for (const text of ['love', 'ADA@', 'cus_1', 'b12']) expect(isLike(ada, text), text).toBe(true)
  expect(isLike({ ...ada, name: null, email: null } as Customer, 'ada')).toBe(false)
})

afterEach(() => vi.unstubAllGlobals())

/** A server whose list has pages of two numbers each, up to `last`. */
function serve(last: number): string[] {
  const asked: string[] = []
  vi.stubGlobal('fetch', async (url: URL) => {
    const cursor = url.searchParams.get('cursor')
    asked.push(cursor ?? '')
    const first = Number(cursor ?? 1)
    const data = [first, first + 1].filter((one) => one <= last)
    return new Response(JSON.stringify({ data, next_cursor: first + 2 <= last ? String(first + 2) : null }), { headers: { 'content-type': 'application/json' } })
  })
  return asked
}

test('a list is looked through page by page, to its end', async () => {
  const asked = serve(5)
  expect(await gather<number>('/numbers', {}, (one) => one % 2 === 1, { pages: 9 })).toEqual({ data: [1, 3, 5], next_cursor: null })
  expect(asked).toEqual(['', '3', '5'])
})

test('it ends once enough is found or enough is read, and says where to go on', async () => {
  serve(9)
  expect(await gather<number>('/numbers', {}, () => true, { pages: 9, enough: 3 })).toEqual({ data: [1, 2, 3, 4], next_cursor: '5' })
  expect(await gather<number>('/numbers', {}, (one) => one === 9, { pages: 2 })).toEqual({ data: [], next_cursor: '5' })
  expect(await gather<number>('/numbers', {}, (one) => one === 9, { cursor: '5', pages: 9 })).toEqual({ data: [9], next_cursor: null })
})
