// Asking the API: what every request carries, and what is repeated.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Refused } from '#shared/api/ask.ts'
import type { Session } from '#shared/api/types.ts'
import { get, post } from '../src/api/client.ts'
import { confirming, signedInAgain } from '../src/api/interrupt.ts'
import { besideField, problem } from '../src/api/problem.ts'
import { lost, signedIn } from '../src/api/session.ts'

interface Call {
  url: string
  init: { method?: string; headers: Record<string, string>; body?: string }
}

let calls: Call[] = []
let answers: (() => Response)[] = []

const ok = (body: unknown) => () => new Response(JSON.stringify(body), { status: 200 })
const refused = (status: number, code: string, param: string | null = null) => () => new Response(JSON.stringify({ error: { code, message: 'said', param } }), { status })

beforeEach(() => {
  vi.useFakeTimers()
  calls = []
  answers = []
  vi.stubGlobal('fetch', async (url: URL, init: Call['init']) => {
    calls.push({ url: url.href, init })
    const next = answers.shift()
    if (!next) throw new TypeError('no connection')
    return next()
  })
  signedIn({
    state: 'active',
    csrf_token: 'csrf-1',
    user: { id: 'usr_1', email: 'a@example.com', passkeys: 1 },
    organizations: [{ id: 'acct_1', role: 'owner' }],
  } as unknown as Session)
})
afterEach(() => vi.useRealTimers())

const settle = async <T>(asked: Promise<T>): Promise<T | unknown> => {
  const done = asked.catch((error: unknown) => error)
  await vi.runAllTimersAsync()
  return done
}
const keys = () => calls.map((call) => call.init.headers['idempotency-key'])

test('a request says its mode, its organisation and the token against forgery', async () => {
  answers = [ok({ data: [] })]
  await get('/invoices', { status: 'paid', cursor: null })
  expect(calls[0]?.url).toBe('http://localhost:4242/v1/invoices?status=paid')
  expect(calls[0]?.init.headers).toMatchObject({ 'till-mode': 'test', 'till-account': 'acct_1', 'till-csrf': 'csrf-1' })
})

test('a request nobody knows the fate of is repeated under its key, also by a second press', async () => {
  answers = [refused(503, 'unavailable')]
  const error = await settle(post('/invoices', { amount: '1' }))
  expect(error).toBeInstanceOf(Refused)
  expect(calls).toHaveLength(3)
  answers = [ok({ id: 'inv_1' })]
  await settle(post('/invoices', { amount: '1' }))
  expect(new Set(keys()).size).toBe(1)
  answers = [ok({ id: 'inv_2' }), ok({ id: 'inv_3' })]
  await settle(post('/invoices', { amount: '1' }))
  await settle(post('/invoices', { amount: '2' }))
  expect(new Set(keys()).size).toBe(3)
})

test('a refusal is final: the next attempt has a key of its own', async () => {
  answers = [refused(400, 'parameter_invalid', 'amount'), ok({})]
  const error = (await settle(post('/invoices', { amount: 'x' }))) as Refused
  expect(error.said?.param).toBe('amount')
  await settle(post('/invoices', { amount: 'x' }))
  expect(new Set(keys()).size).toBe(2)
})

test('what needs a passkey is sent again with its yes, to the same content', async () => {
  answers = [refused(403, 'step_up_required'), ok({ id: 'cnf_1', options: {} }), ok({ id: 'cnf_1' }), ok({ id: 'chg_1' })]
  const asked = post<{ id: string }>('/dashboard/changes', { kind: 'destination' }, { says: 'change the destination' })
  await vi.waitFor(() => expect(confirming.get()).not.toBeNull())
  const dialog = confirming.get()
  expect(dialog?.says).toBe('change the destination')
  await dialog?.begin()
  await dialog?.finish('cnf_1', {})
  dialog?.done('cnf_1')
  expect((await asked).id).toBe('chg_1')
  expect(JSON.parse(calls[1]?.init.body ?? '')).toEqual({
    path: '/v1/dashboard/changes',
    body_sha256: 'eb0c62514659546b59e50066227b4a58816088196a8b534e69ce4d1c530c0676',
  })
  expect(calls[3]?.init.headers['till-confirmation']).toBe('cnf_1')
  expect(calls[3]?.init.body).toBe(calls[0]?.init.body)
})

test('a session that ended asks to sign in again and then goes on', async () => {
  answers = [refused(401, 'session_expired'), ok({ id: 'inv_1' })]
  const asked = post<{ id: string }>('/invoices', { amount: '1' })
  await vi.waitFor(() => expect(lost.get()).toEqual({ email: 'a@example.com' }))
  signedInAgain()
  expect((await asked).id).toBe('inv_1')
  expect(lost.get()).toBeNull()
})

test('a refusal is told with its remedy, an unknown one in the words of the server', () => {
  expect(problem(new Refused(403, 'permission_denied', null)).remedy).toMatch(/owner/)
  expect(problem(new Refused(429, 'too_many_attempts', 30)).remedy).toMatch(/30 seconds/)
  expect(problem(new Refused(400, 'brand_new', null, { message: 'In its words.', param: null, requestId: 'req_1' }))).toEqual({ title: 'In its words.', remedy: null, requestId: null })
  expect(problem(new Refused(500, 'internal', null, { message: 'Broken.', param: null, requestId: 'req_1' })).requestId).toBe('req_1')
})

test('beside its field a message does not name the field', () => {
  expect(besideField('`max_attempts` must be an integer from 1 to 7.', 'max_attempts')).toBe('Must be an integer from 1 to 7.')
  expect(besideField('amount must be greater than zero', 'amount')).toBe('Must be greater than zero')
  expect(besideField('The asset cannot be received.', 'assets[0]')).toBe('The asset cannot be received.')
})
