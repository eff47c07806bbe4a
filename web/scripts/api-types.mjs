// Writes the TypeScript types of what the pages ask, from the checked-in OpenAPI document:
//
//   node scripts/api-types.mjs           writes them
//   node scripts/api-types.mjs --check   fails when they differ from what is checked in
//
// It knows the part of JSON Schema that our document uses and refuses the rest.

import { readFileSync, writeFileSync } from 'node:fs'

const here = (path) => new URL(path, import.meta.url)
const api = JSON.parse(readFileSync(here('../../openapi.json'), 'utf8'))
const target = here('../shared/api/types.ts')

const PATHS = /^\/v1\//

function reachable() {
  const found = new Set()
  const visit = (value) => {
    if (Array.isArray(value)) return value.forEach(visit)
    if (!value || typeof value !== 'object') return
    const name = value.$ref?.startsWith('#/components/schemas/') && nameOf(value.$ref)
    if (name && !found.has(name)) {
      found.add(name)
      visit(api.components.schemas[name])
    }
    Object.values(value).forEach(visit)
  }
  for (const [path, item] of Object.entries(api.paths)) {
    if (!PATHS.test(path)) continue
    for (const operation of Object.values(item)) {
      visit(operation.requestBody)
      for (const [status, answer] of Object.entries(operation.responses)) if (status.startsWith('2')) visit(answer)
    }
  }
  return [...found].sort()
}

const nameOf = (ref) => ref.split('/').pop()

function type(schema, indent) {
  if (schema.$ref) return nameOf(schema.$ref)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const alternatives = schema.oneOf ?? schema.anyOf
  if (alternatives) return alternatives.map((one) => type(one, indent)).join(' | ')
  if (Array.isArray(schema.type)) {
    return schema.type.map((one) => type({ ...schema, type: one }, indent)).join(' | ')
  }
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array': {
      const item = type(schema.items, indent)
      return item.includes('|') ? `(${item})[]` : `${item}[]`
    }
    case 'object':
      return object(schema, indent)
    default:
      throw new Error(`a schema this script does not know: ${JSON.stringify(schema)}`)
  }
}

function object(schema, indent) {
  if (!schema.properties) {
    return `Record<string, ${schema.additionalProperties ? type(schema.additionalProperties, indent) : 'unknown'}>`
  }
  const inner = `${indent}  `
  const required = new Set(schema.required ?? [])
  const lines = Object.entries(schema.properties).map(
    ([name, property]) => `${inner}${name}${required.has(name) ? '' : '?'}: ${type(property, inner)}\n`,
  )
  return `{\n${lines.join('')}${indent}}`
}

const declarations = reachable().map((name) => {
  const schema = api.components.schemas[name]
  const said = schema.description?.split('\n')[0]
  return `${said ? `/** ${said} */\n` : ''}export type ${name} = ${type(schema, '')}\n`
})
const text = `// Written by scripts/api-types.mjs from openapi.json. Do not edit.\n\n${declarations.join('\n')}`

if (!process.argv.includes('--check')) {
  writeFileSync(target, text)
} else if (readFileSync(target, 'utf8') !== text) {
  console.error('web/shared/api/types.ts differs from openapi.json: run make web-types')
  process.exit(1)
}
