// Holds the built pages against their budget. Sizes are gzip's, in bytes: what a payer's phone has to fetch.

import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const KB = 1024
const dist = new URL('../dist/checkout/', import.meta.url)
const size = (name) => gzipSync(readFileSync(new URL(name, dist)), { level: 9 }).length
const files = readdirSync(new URL('assets/', dist)).map((name) => `assets/${name}`)
const sizes = Object.fromEntries(files.map((name) => [name, size(name)]))
const page = readFileSync(new URL('index.html', dist), 'utf8')

const begins = files.filter((name) => page.includes(name))
const total = (names) => names.reduce((sum, name) => sum + sizes[name], 0)
const like = (form) => files.filter((name) => form.test(name))
// Words are lists of texts and need nobody; the code of a part may have the same name.
const isWords = (name) => !/\bimport\b/.test(readFileSync(new URL(name, dist), 'utf8'))
const words = like(/\/(pay|help|link|refund|demo)-/).filter(isWords)
if (words.length < 12) throw new Error(`only ${words.length} files of words were found: the script does not know its files any more`)

const script = total(begins.filter((name) => name.endsWith('.js')))
const style = total(begins.filter((name) => name.endsWith('.css')))
const longestWords = Math.max(...words.map((name) => sizes[name]))
const bitcoin = total(like(/\/bitcoin-/))
const base58 = total(like(/\/base58-/))
const beforeQr = size('index.html') + script + style + longestWords + base58

let isOver = false
for (const [what, is, most] of [
  ['script at the start', script, 32 * KB],
  ['style', style, 6 * KB],
  ['words of one language', longestWords, 2 * KB],
  ['Bitcoin, where it is offered', bitcoin, 16 * KB],
  ['all before the code shows (TRON offered)', beforeQr, 50 * KB],
]) {
  console.log(`${is > most ? 'OVER ' : ''}${what}: ${is} of ${most} bytes`)
  isOver ||= is > most
}
process.exit(isOver ? 1 : 0)
