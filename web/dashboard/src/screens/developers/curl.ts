// The common calls as commands for a terminal.

import type { Mode } from '../../app/router.ts'

export interface Call {
  method: 'GET' | 'POST'
  /** Below `/v1`; parts in braces are fields. */
  path: string
  /** Fields of the body, or of the query of a GET. */
  fields: readonly string[]
  /** Fields that a value must be given for. */
  needs: readonly string[]
  /** Values that are sent in any case. */
  fixed?: Readonly<Record<string, string>>
  isTest?: boolean
}

export const CALLS: Record<string, Call> = {
  create_invoice: { method: 'POST', path: '/invoices', fields: ['amount', 'currency', 'description', 'customer_ref'], needs: ['amount', 'currency'] },
  retrieve_invoice: { method: 'GET', path: '/invoices/{invoice}', fields: [], needs: ['invoice'] },
  list_invoices: { method: 'GET', path: '/invoices', fields: ['status', 'customer_ref', 'limit'], needs: [] },
  simulate_payment: { method: 'POST', path: '/test_helpers/invoices/{invoice}/simulate_payment', fields: ['asset', 'amount'], needs: ['invoice', 'asset'], isTest: true },
  create_payment_link: { method: 'POST', path: '/payment_links', fields: ['amount', 'currency', 'description'], needs: ['amount', 'currency'], fixed: { amount_type: 'fixed' } },
  create_refund: { method: 'POST', path: '/invoices/{invoice}/refunds', fields: ['amount', 'asset'], needs: ['invoice'] },
  list_payments: { method: 'GET', path: '/payments', fields: ['invoice', 'limit'], needs: [] },
}

/** All fields of a call, those of its path first. */
export function fieldsOf(call: Call): string[] {
  return [...[...call.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string), ...call.fields]
}

/** As one word of a shell, whatever is in it. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** A secret test key, and nothing else: a live key is never put into a command that is shown. */
export const isTestKey = (text: string) => /^till_test_sk_[0-9a-z_]+$/.test(text)

/** The command; the key is a variable of the shell unless a test key was typed. */
export function curl(api: string, call: Call, values: Record<string, string>, key: string, mode: Mode): string {
  const given = (name: string) => values[name]?.trim() ?? ''
  const path = call.path.replace(/\{(\w+)\}/g, (whole, name: string) => (given(name) ? encodeURIComponent(given(name)) : whole))
  const set: [string, string][] = [...Object.entries(call.fixed ?? {}), ...call.fields.filter(given).map((name): [string, string] => [name, given(name)])]
  const bearer = mode === 'test' && isTestKey(key) ? quoted(`Authorization: Bearer ${key}`) : `"Authorization: Bearer $TILL_${mode.toUpperCase()}_KEY"`
  if (call.method === 'GET') {
    const query = new URLSearchParams(set).toString()
    return [`curl ${quoted(api + path + (query && `?${query}`))}`, `  -H ${bearer}`].join(' \\\n')
  }
  return [
    `curl ${quoted(api + path)}`,
    `  -H ${bearer}`,
    '  -H "Idempotency-Key: $(uuidgen)"',
    "  -H 'Content-Type: application/json'",
    `  -d ${quoted(JSON.stringify(Object.fromEntries(set)))}`,
  ].join(' \\\n')
}
