// The Python library's models, and its calls by resource for both kinds of client.

import { calls, envelope, events, listOf, nameOf, pascal, resources, types } from './document.mjs'

const HEAD = '# Written by sdk/scripts/generate.mjs from openapi.json. Do not edit.\n'
const WIDTH = 118

/** Words that Python keeps for itself get a line after them. */
const field = (name) => (['from', 'class', 'global', 'import', 'in', 'is', 'not', 'pass'].includes(name) ? `${name}_` : name)

function doc(said, indent) {
  if (!said) return ''
  const lines = said.trim().replaceAll('\\', '\\\\').split('\n')
  const end = lines.length > 1 ? `\n${indent}` : ''
  return `${indent}"""${lines.join(`\n${indent}`)}${end}"""\n`
}

const isDate = (schema) => schema.type === 'string' && schema.format === 'date-time'
const unique = (list) => [...new Set(list)]

/** Lists are taken as any sequence and maps as any mapping; they are given as lists and dicts. */
const GIVEN = { list: 'list', dict: 'dict' }
const TAKEN = { list: 'Sequence', dict: 'Mapping' }

function type(schema, names = GIVEN) {
  if (schema.$ref) {
    const item = listOf(schema.$ref)
    return item ? `${names.list}[${item}]` : nameOf(schema.$ref)
  }
  if (schema.const !== undefined) return `Literal["${schema.const}"]`
  if (schema.enum) return `Literal[${schema.enum.map((value) => `"${value}"`).join(', ')}]`
  if (schema.oneOf) return unique(schema.oneOf.map((one) => type(one, names))).join(' | ')
  if (Array.isArray(schema.type)) return unique(schema.type.map((one) => type({ ...schema, type: one }, names))).join(' | ')
  if (isDate(schema)) return 'datetime'
  switch (schema.type) {
    case 'string':
      return 'str'
    case 'boolean':
      return 'bool'
    case 'null':
      return 'None'
    case 'integer':
      return 'int'
    case 'array':
      return `${names.list}[${type(schema.items, names)}]`
    case 'object':
      return `${names.dict}[str, ${schema.additionalProperties ? type(schema.additionalProperties, names) : 'Any'}]`
    case undefined:
      return 'Any'
    default:
      throw new Error(`a schema this script does not know: ${JSON.stringify(schema)}`)
  }
}

/** Objects without a name that are fields of others, each with a name made of both. */
function inner(name, schema) {
  const found = []
  const properties = Object.entries(schema.properties).map(([key, one]) => {
    if (!one.properties) return [key, one]
    const called = `${name.replace(/Data$/, '')}${pascal(key)}`
    found.push(...inner(called, one))
    return [key, { $ref: called }]
  })
  return [...found, [name, { ...schema, properties: Object.fromEntries(properties) }]]
}

const orNone = (text) => (text.split(' | ').includes('None') ? text : `${text} | None`)

const dataclasses = (name, schema) => inner(name, schema).map(([called, one]) => dataclass(called, one)).join('\n\n')

function dataclass(name, schema) {
  const required = new Set(schema.required ?? [])
  const fields = Object.entries(schema.properties).map(([key, one]) => {
    const kind = type(one)
    return `    ${field(key)}: ${required.has(key) ? kind : `${orNone(kind)} = None`}\n${doc(one.description, '    ')}`
  })
  const said = doc(schema.description, '    ')
  return `@dataclass(frozen=True, kw_only=True, slots=True)\nclass ${name}:\n${said}${said ? '\n' : ''}${fields.join('')}`
}

/** A union of objects that have no names: each is called by the one value that tells it from the others. */
function union(name, schema) {
  const members = schema.oneOf.map((one) => {
    const tag = Object.values(one.properties).find((property) => property.enum?.length === 1 || property.const)
    return [`${name}${pascal(tag.const ?? tag.enum[0])}`, one]
  })
  return { members, alias: `${name} = ${members.map(([member]) => member).join(' | ')}\n${doc(schema.description, '')}` }
}

function literal(name, schema) {
  const values = schema.enum.map((value) => `    "${value}",\n`)
  return `${name} = Literal[\n${values.join('')}]\n${doc(schema.description, '')}`
}

/** What an event's data is called, by what it holds: `InvoiceData`, `InvoiceWithPaymentData`. */
function dataName(data) {
  const required = new Set(data.required ?? [])
  const more = Object.keys(data.properties)
    .filter((key) => key !== 'object')
    .map((key) => `${required.has(key) ? 'With' : 'WithOptional'}${pascal(key)}`)
  return `${nameOf(data.properties.object.$ref)}${more.join('')}Data`
}

const eventName = (event) => `${pascal(event.type)}Event`

function event(one) {
  const properties = { ...envelope.properties, type: { const: one.type }, data: { $ref: dataName(one.data) } }
  return dataclass(eventName(one), { ...envelope, description: `\`${one.type}\``, properties })
}

/** Bodies are arguments of the calls, and need no class. */
const kept = types.filter((one) => !one.isBody)

export function modelsFile() {
  const literals = kept.filter((one) => one.schema.enum)
  const unions = kept.filter((one) => one.schema.oneOf).map((one) => union(one.name, one.schema))
  const objects = kept.filter((one) => one.schema.properties)
  const error = objects.find((one) => one.name === 'ErrorBody').schema
  const data = new Map(events.map((one) => [dataName(one.data), one.data]))
  return [
    `${HEAD}"""What the API answers and what webhooks bring."""\n`,
    'from __future__ import annotations\n\nfrom dataclasses import dataclass\nfrom datetime import datetime\nfrom typing import Literal\n',
    literal('ErrorType', error.properties.type),
    literal('ErrorCode', error.properties.code),
    ...literals.map((one) => literal(one.name, one.schema)),
    ...objects.filter((one) => one.name !== 'ErrorBody').map((one) => `\n${dataclasses(one.name, one.schema)}`),
    ...unions.flatMap((one) => one.members).map(([name, schema]) => `\n${dataclasses(name, schema)}`),
    ...unions.map((one) => one.alias),
    literal('EventType', { enum: events.map((one) => one.type), description: 'What an event tells of.' }),
    ...[...data].map(([name, schema]) => `\n${dataclasses(name, schema)}`),
    ...events.map((one) => `\n${event(one)}`),
    `Event = (\n    ${events.map(eventName).join('\n    | ')}\n)\n"""What a webhook brings: one of these, told apart by \`type\`."""\n`,
    `EVENTS: dict[str, type[Event]] = {\n${events.map((one) => `    "${one.type}": ${eventName(one)},\n`).join('')}}\n`,
  ].join('\n')
}

/** An argument list on one line where it fits, else on one each. */
function signature(start, list, end) {
  const line = `${start}${list.join(', ')}${end}`
  return line.length <= WIDTH ? line : `${start}\n${list.map((one) => `        ${one},\n`).join('')}    ${end}`
}

function dict(pairs) {
  const line = `{${pairs.join(', ')}}`
  return line.length <= 60 ? line : `{\n${pairs.map((pair) => `                ${pair},\n`).join('')}            }`
}

function bodyArguments(body) {
  const required = new Set(body.schema.required ?? [])
  const all = Object.entries(body.schema.properties)
  const list = [
    ...all.filter(([key]) => required.has(key)).map(([key, one]) => `${field(key)}: ${type(one, TAKEN)}`),
    ...all.filter(([key]) => !required.has(key)).map(([key, one]) => `${field(key)}: ${type(one, TAKEN)} | NotGiven = NOT_GIVEN`),
  ]
  return [list, all.map(([key]) => `"${key}": ${field(key)}`)]
}

function queryArguments(query) {
  const list = [
    ...query.filter((one) => one.required).map((one) => `${field(one.name)}: ${type(one.schema, TAKEN)}`),
    ...query.filter((one) => !one.required).map((one) => `${field(one.name)}: ${orNone(type(one.schema, TAKEN))} = None`),
  ]
  return [list, query.map((one) => `"${one.name}": ${field(one.name)}`)]
}

const decoder = (name) => (name === 'Event' ? 'event' : `model(${name})`)

function method(call, flavour) {
  const isAsync = flavour === 'async'
  const [named, sent] = call.body ? bodyArguments(call.body) : queryArguments(call.query)
  if (call.method === 'POST') named.push('idempotency_key: str | None = None')
  if (call.answer.kind === 'stream') named.push('after: int = 0')
  const list = ['self', ...call.inPath.map((one) => `${field(one)}: str`)]
  if (call.inPath.length > 0) list.push('/')
  if (named.length > 0) list.push('*', ...named)
  const path = call.inPath.length > 0 ? `f"${call.path.replace(/\{(\w+)\}/g, (_, one) => `{segment(${field(one)})}`)}"` : `"${call.path}"`
  const { kind, name } = call.answer
  const given = [
    ...(kind === 'json' || kind === 'pages' || kind === 'stream' ? [decoder(name)] : []),
    ...(kind === 'json' ? [`"${call.method}"`] : []),
    path,
    ...(sent.length > 0 ? [`${call.body ? 'body' : 'query'}=${dict(sent)}`] : []),
    ...(call.method === 'POST' ? ['idempotency_key=idempotency_key'] : []),
    ...(kind === 'stream' ? ['after=after'] : []),
  ]
  const [asked, returned, awaits] = {
    json: () => ['request', name, true],
    text: () => ['request_text', 'str', true],
    pages: () => ['pages', `${isAsync ? 'AsyncPages' : 'Pages'}[${name}]`, false],
    stream: () => ['stream', `${isAsync ? 'AsyncIterator' : 'Iterator'}[${name}]`, false],
  }[kind]()
  const start = `    ${isAsync && awaits ? 'async ' : ''}def ${call.name}(`
  const made = `${isAsync && awaits ? 'await ' : ''}self._client.${asked}(`
  const line = `        return ${made}${given.join(', ')})`
  const wide = line.length > WIDTH || line.includes('\n')
  const body = wide ? `        return ${made}\n${given.map((one) => `            ${one},\n`).join('')}        )` : line
  return `${signature(start, list, `) -> ${returned}:`)}\n${doc(call.said, '        ')}${body}\n`
}

export function resourcesFile(flavour) {
  const prefix = flavour === 'async' ? 'Async' : ''
  const className = (resource) => `${prefix}${pascal(resource)}Resource`
  const classes = resources.map((resource) => {
    const methods = calls.filter((call) => call.resource === resource).map((call) => method(call, flavour))
    return `\nclass ${className(resource)}:\n    def __init__(self, client: ${prefix}Requests) -> None:\n        self._client = client\n\n${methods.join('\n')}`
  })
  const all = `\nclass ${prefix}Resources:\n    """All resources of one client."""\n\n    def __init__(self, client: ${prefix}Requests) -> None:\n${resources
    .map((one) => `        self.${one} = ${className(one)}(client)\n`)
    .join('')}`
  const text = [...classes, all].join('\n')
  const code = text.replace(/"""[^]*?"""/g, '')
  const used = (names) => names.filter((name) => new RegExp(`\\b${name}\\b`).test(code))
  const models = used(['Event', 'EventType', ...kept.map((one) => one.name)].sort())
  const from = (module, names) => (names.length > 0 ? [`from ${module} import ${names.join(', ')}\n`] : [])
  return [
    `${HEAD}"""The calls, by resource."""\n\nfrom __future__ import annotations\n\n`,
    ...from('collections.abc', used(['AsyncIterator', 'Iterator', 'Mapping', 'Sequence'])),
    ...from('datetime', used(['datetime'])),
    ...from('typing', used(['Any', 'Literal'])),
    '\n',
    ...from('._decode', calls.some((call) => call.answer.name === 'Event') ? ['event', 'model'] : ['model']),
    ...from('._pages', used([`${prefix}Pages`])),
    ...from('._requests', [`${prefix}Requests`, 'segment']),
    ...from('._values', used(['NOT_GIVEN', 'NotGiven'])),
    `from .models import (\n${models.map((name) => `    ${name},\n`).join('')})\n\n`,
    text,
  ].join('')
}
