// Makes a program of each piece of code in README.md, in tests/snippets: the first by itself, each later one after the first. They are JavaScript that
// has to pass as TypeScript.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FOLDER = new URL('snippets/', import.meta.url)

export default function setup() {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [first, ...later] = [...readme.matchAll(/```js\n([^]*?)```/g)].map((found) => found[1])
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  writeFileSync(new URL('1.ts', FOLDER), first)
  for (const [at, text] of later.entries()) writeFileSync(new URL(`${at + 2}.ts`, FOLDER), `${first}\n${text}`)
}

// The type check wants them, too.
if (process.argv[1] === fileURLToPath(import.meta.url)) setup()
