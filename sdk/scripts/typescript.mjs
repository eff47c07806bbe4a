// The TypeScript library's types, and its calls by resource.

import { calls, camel, envelope, events, listOf, nameOf, pascal, resources, types } from './document.mjs'

const HEAD = '// Written by sdk/scripts/generate.mjs from openapi.json. Do not edit.\n'

function doc(said, indent = '') {
  if (!said) return ''
  const lines = said.trim().split('\n')
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`
}

/** Alternatives on one line where they fit, else on one each. */
function among(list, indent) {
  const line = list.join(' | ')
  return line.length <= 100 ? line : `\n${list.map((one) => `${indent}  | ${one}`).join('\n')}`
}

function type(schema, indent = '') {
  if (schema.$ref) {
    const item = listOf(schema.$ref)
    return item ? `Page<${item}>` : nameOf(schema.$ref)
  }
  if (schema.const !== undefined) return `'${schema.const}'`
  if (schema.enum) return among(schema.enum.map((value) => `'${value}'`), indent)
  if (schema.oneOf) return schema.oneOf.map((one) => type(one, indent)).join(' | ')
  if (Array.isArray(schema.type)) return schema.type.map((one) => type({ ...schema, type: one }, indent)).join(' | ')
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
      return 'number'
    case 'array': {
      const item = type(schema.items, indent)
      return item.includes(' ') ? `(${item})[]` : `${item}[]`
    }
    case 'object':
      return schema.properties ? object(schema, indent) : `Record<string, ${type(schema.additionalProperties ?? {}, indent)}>`
    case undefined:
      return 'unknown'
    default:
      throw new Error(`a schema this script does not know: ${JSON.stringify(schema)}`)
  }
}

function object(schema, indent) {
  const inner = `${indent}  `
  const required = new Set(schema.required ?? [])
  const fields = Object.entries(schema.properties).map(
    ([name, field]) => `${doc(field.description, inner)}${inner}${name}${required.has(name) ? '' : '?'}: ${type(field, inner)}\n`,
  )
  return `{\n${fields.join('')}${indent}}`
}

function declaration({ name, schema }) {
  const isInterface = schema.type === 'object' && schema.properties
  return `${doc(schema.description)}export ${isInterface ? `interface ${name} ${object(schema, '')}` : `type ${name} = ${type(schema)}`}\n`
}

export function typesFile() {
  const { type: _, data: __, ...fields } = envelope.properties
  const common = Object.entries(fields).map(([name, field]) => `${doc(field.description, '  ')}  ${name}: ${type(field, '  ')}\n`)
  return [
    HEAD,
    ...types.map(declaration),
    'export type ErrorType = ErrorBody[\'type\']\nexport type ErrorCode = ErrorBody[\'code\']\n',
    `${doc('One page of a list, newest first.')}export interface Page<Item> {\n  object: 'list'\n  data: Item[]\n  /** What to pass as \`cursor\` for the next page; null on the last one. */\n  next_cursor: string | null\n}\n`,
    `${doc('What all events have.')}export interface EventOf<Type extends string, Data> {\n${common.join('')}  type: Type\n  data: Data\n}\n`,
    `${doc('What a webhook brings: one of these, told apart by `type`.')}export type Event =\n${events
      .map((event) => `  | EventOf<'${event.type}', ${inline(event.data)}>`)
      .join('\n')}\n`,
    `export type EventType = Event['type']\n`,
  ].join('\n')
}

const inline = (data) => {
  const required = new Set(data.required ?? [])
  const fields = Object.entries(data.properties).map(([name, field]) => `${name}${required.has(name) ? '' : '?'}: ${type(field)}`)
  return `{ ${fields.join('; ')} }`
}

function queryType(call) {
  const fields = call.query.map((one) => {
    const said = doc(one.description, '  ')
    return `${said}  ${one.name}${one.required ? '' : '?'}: ${type(one.schema)}\n`
  })
  return `{\n${fields.join('')}}`
}

const paramsName = (call) => `${pascal(call.resource)}${pascal(call.name)}Params`

function method(call) {
  const name = camel(call.name)
  const path = call.path.replace(/\{(\w+)\}/g, (_, one) => `\${segment(${camel(one)})}`)
  const argumentsList = call.inPath.map((one) => `${camel(one)}: string`)
  const isOptional = call.body ? call.body.optional : !call.query.some((one) => one.required)
  const hasParams = call.body || call.query.length > 0
  if (call.body) argumentsList.push(`params: ${call.body.name}${isOptional ? ' = {}' : ''}`)
  else if (hasParams) argumentsList.push(`params: ${paramsName(call)}${isOptional ? ' = {}' : ''}`)
  argumentsList.push(`options: ${call.answer.kind === 'stream' ? 'StreamOptions' : 'RequestOptions'} = {}`)
  const sent = call.body ? ', body: params' : hasParams ? ', query: params' : ''
  const request = `{ method: '${call.method}', path: \`${path}\`${sent} }`
  const [returned, made] = {
    json: () => [`Promise<${call.answer.name}>`, `this.#client.request(${request}, options)`],
    text: () => ['Promise<string>', `this.#client.requestText(${request}, options)`],
    pages: () => [`Pages<${call.answer.name}>`, `this.#client.pages(${request}, options)`],
    stream: () => [`AsyncIterableIterator<${call.answer.name}>`, `this.#client.stream(\`${path}\`, options)`],
  }[call.answer.kind]()
  return `${doc(call.said, '  ')}  ${name}(${argumentsList.join(', ')}): ${returned} {\n    return ${made}\n  }\n`
}

export function resourcesFile() {
  const of = (resource) => calls.filter((call) => call.resource === resource)
  const used = new Set(calls.flatMap((call) => [call.body?.name, call.answer.name]).filter(Boolean))
  for (const text of calls.flatMap((call) => call.query.map((one) => type(one.schema)))) if (/^[A-Z]\w+$/.test(text)) used.add(text)
  const params = calls.filter((call) => !call.body && call.query.length > 0)
  const classes = resources.map(
    (resource) =>
      `export class ${pascal(resource)}Resource {\n  readonly #client: Requests\n\n  constructor(client: Requests) {\n    this.#client = client\n  }\n\n${of(resource).map(method).join('\n')}}\n`,
  )
  return [
    `${HEAD}\nimport type { Pages } from './pages.ts'\nimport { type RequestOptions, type Requests, segment } from './requests.ts'\nimport type { StreamOptions } from './stream.ts'\nimport type {\n${[...used].sort().map((name) => `  ${name},\n`).join('')}} from './types.ts'\n`,
    ...params.map((call) => `export interface ${paramsName(call)} ${queryType(call)}\n`),
    ...classes,
    `/** All resources of one client. */\nexport class Resources {\n${resources.map((one) => `  readonly ${camel(one)}: ${pascal(one)}Resource\n`).join('')}\n  constructor(client: Requests) {\n${resources
      .map((one) => `    this.${camel(one)} = new ${pascal(one)}Resource(client)\n`)
      .join('')}  }\n}\n`,
  ].join('\n')
}
