// Writes what the libraries take from the checked-in OpenAPI document:
//
//   node sdk/scripts/generate.mjs           writes it
//   node sdk/scripts/generate.mjs --check   fails when it differs from what is checked in

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import * as python from './python.mjs'
import * as typescript from './typescript.mjs'

const files = {
  'typescript/src/types.ts': typescript.typesFile(),
  'typescript/src/resources.ts': typescript.resourcesFile(),
  'python/src/till_sdk/models.py': python.modelsFile(),
  'python/src/till_sdk/_resources.py': python.resourcesFile('sync'),
  'python/src/till_sdk/_async_resources.py': python.resourcesFile('async'),
}

for (const [name, text] of Object.entries(files)) {
  const file = new URL(`../${name}`, import.meta.url)
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text)
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`sdk/${name} differs from openapi.json: run make sdk-types`)
    process.exitCode = 1
  }
}
