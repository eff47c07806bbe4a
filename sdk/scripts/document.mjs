// What the libraries take from the checked-in OpenAPI document: the calls that a key can make, the types they speak of, and
// the events that webhooks bring. The dashboard's calls need a signed-in person and are left out, as are the probes.

import { readFileSync } from 'node:fs'

const api = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
const schemas = { ...api.components.schemas, ErrorBody: api.components.schemas.Error }

const LEFT_OUT = /^\/(v1\/dashboard\/|healthz$|readyz$|\.well-known\/)/

/** Calls that their path does not name well: which resource they are part of, and what they are called there. */
const NAMES = {
  createRefund: ['refunds', 'create'],
  claimRefund: ['refund_claims', 'claim'],
  streamInvoiceEvents: ['invoices', 'events'],
  retrieveCheckoutInvoice: ['checkout', 'retrieve_invoice'],
  retrieveCheckoutLink: ['checkout', 'retrieve_link'],
  retrieveTestClock: ['test_helpers', 'retrieve_clock'],
  advanceTestClock: ['test_helpers', 'advance_clock'],
}

/** Paths that collect several things: a call in one of these keeps the name that the document gives it. */
const COLLECTIONS = ['merchant', 'checkout', 'test_helpers']

const snake = (name) => name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
export const camel = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase())
export const pascal = (name) => camel(`_${name.replace(/[.\s-]/g, '_')}`)

/** What a schema is called here. Both languages have an `Error` of their own. */
export const nameOf = (ref) => ref.split('/').pop().replace(/^Error$/, 'ErrorBody')

/** The item's name when this is a list of something that has a name of its own. */
export const listOf = (ref) => /^List_(\w+)$/.exec(nameOf(ref))?.[1]

function place(method, path, operation, isPaged) {
  const known = NAMES[operation.operationId]
  if (known) return known
  const [, resource, ...rest] = path.slice(1).split('/')
  if (COLLECTIONS.includes(resource)) return [resource, snake(operation.operationId)]
  const last = rest.at(-1)
  if (last && !last.startsWith('{')) return [resource, last]
  if (method === 'get') return [resource, isPaged ? 'list' : 'retrieve']
  return [resource, last ? 'update' : 'create']
}

function body(operation) {
  const schema = operation.requestBody?.content['application/json']?.schema
  if (!schema) return null
  const ref = schema.$ref ?? schema.oneOf?.find((one) => one.$ref)?.$ref
  if (!ref) throw new Error(`${operation.operationId}: a body without a name`)
  const optional = !operation.requestBody.required || !(schemas[nameOf(ref)].required?.length > 0)
  return { name: nameOf(ref), optional, schema: schemas[nameOf(ref)] }
}

function answer(operation) {
  const [, success] = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))
  const [[kind, { schema }]] = Object.entries(success.content)
  if (kind === 'text/event-stream') return { kind: 'stream', name: nameOf(schema.$ref) }
  if (kind !== 'application/json') return { kind: 'text' }
  const item = listOf(schema.$ref)
  const isPaged = item && operation.parameters?.some((one) => one.name === 'cursor')
  return isPaged ? { kind: 'pages', name: item } : { kind: 'json', name: nameOf(schema.$ref) }
}

/** Parameters have their enumerations written out: the name of the one that has the same values. */
function named(parameter) {
  const values = JSON.stringify(parameter.schema.enum)
  if (values === JSON.stringify(Object.keys(api.webhooks))) return { ...parameter, schema: { $ref: 'EventType' } }
  const found = values && Object.keys(schemas).find((name) => JSON.stringify(schemas[name].enum) === values)
  return found ? { ...parameter, schema: { $ref: `#/components/schemas/${found}` } } : parameter
}

function operations() {
  const found = []
  for (const [path, item] of Object.entries(api.paths)) {
    if (LEFT_OUT.test(path)) continue
    for (const [method, operation] of Object.entries(item)) {
      const parameters = operation.parameters ?? []
      const answered = answer(operation)
      const [resource, name] = place(method, path, operation, answered.kind === 'pages')
      found.push({
        resource,
        name,
        method: method.toUpperCase(),
        path,
        said: [operation.summary, operation.description].filter(Boolean).join('.\n'),
        inPath: parameters.filter((one) => one.in === 'path').map((one) => one.name),
        // A key goes into the header, and a stream resumes by itself.
        query: parameters.filter((one) => one.in === 'query' && !['key', 'last_event_id'].includes(one.name)).map(named),
        body: body(operation),
        answer: answered,
      })
    }
  }
  return found
}

export const calls = operations()
export const resources = [...new Set(calls.map((call) => call.resource))]
{
  const names = calls.map((call) => `${call.resource}.${call.name}`)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice) throw new Error(`two calls would be ${twice}: give one a name in NAMES`)
}

/** The events, each with its type and what its data holds. */
export const events = Object.entries(api.webhooks).map(([type, item]) => {
  const schema = item.post.requestBody.content['application/json'].schema
  return { type, said: item.post.summary ?? item.post.description, data: schema.properties.data }
})

/** An event as it comes, whatever its type: the fields that all have. */
export const envelope = Object.values(api.webhooks)[0].post.requestBody.content['application/json'].schema

const OF_WEBHOOKS = ['Event', 'EventType']

function reachable() {
  const found = new Set()
  const visit = (value) => {
    if (Array.isArray(value)) return value.forEach(visit)
    if (!value || typeof value !== 'object') return
    if (value.$ref) {
      const name = listOf(value.$ref) ?? nameOf(value.$ref)
      // Events are a union of their own, made from `webhooks`, and so are their types.
      if (!OF_WEBHOOKS.includes(name) && !found.has(name)) {
        found.add(name)
        visit(schemas[name])
      }
    }
    Object.values(value).forEach(visit)
  }
  visit({ $ref: '#/components/schemas/ErrorBody' })
  for (const call of calls) {
    visit(call.query)
    if (call.body) visit({ $ref: `#/components/schemas/${call.body.name}` })
    if (call.answer.name) visit({ $ref: `#/components/schemas/${call.answer.name}` })
  }
  events.forEach((event) => visit(event.data))
  return [...found].sort()
}

const bodies = new Set(calls.map((call) => call.body?.name))

/** The types by name, sorted; `isBody` for what is sent and never answered. */
export const types = reachable().map((name) => ({ name, schema: schemas[name], isBody: bodies.has(name) }))
