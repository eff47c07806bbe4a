// Holds the built pages against their budget. Sizes are gzip's, in bytes: what a browser has to fetch.
//
// Before the code shows, a page fetches index.html, its script and style, the words of `pay` in one language, and what
// computes addresses of the networks offered. Each family is measured by what its own file imports; "all offered" is
// an invoice that offers every one. Words of other parts (`later`, `help`, …) come with those parts, after the code, and
// have the same limit each. The button that other pages include is one file. config.json and the answers of the API are the merchant's, and not counted.

import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const KB = 1024
const dist = new URL('../dist/checkout/', import.meta.url)
const text = (name) => readFileSync(new URL(name, dist), 'utf8')
const size = (name) => gzipSync(readFileSync(new URL(name, dist)), { level: 9 }).length
const files = readdirSync(new URL('assets/', dist)).map((name) => `assets/${name}`)
const total = (names) => [...new Set(names)].reduce((sum, name) => sum + size(name), 0)
const like = (form) => files.filter((name) => form.test(name))

/** A file with all that it imports at once, and what that imports. */
function withImports(name, found = new Set()) {
  if (found.has(name)) return found
  found.add(name)
  for (const [, other] of text(name).matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g)) withImports(`assets/${other}`, found)
  return found
}

// Words are lists of texts and need nobody; the code of a part may have the same name.
const isWords = (name) => !/\bimport\b/.test(text(name))
const words = (group) => like(new RegExp(`/${group}-`)).filter(isWords)
const longest = (group) => Math.max(...words(group).map(size))
const LANGUAGES = readdirSync(new URL('../checkout/src/words', import.meta.url), { withFileTypes: true }).filter((one) => one.isDirectory())
for (const group of ['pay', 'later', 'help', 'link', 'refund']) {
  const found = words(group).length
  if (found !== LANGUAGES.length) throw new Error(`${found} files of words for "${group}": the script does not know its files any more`)
}

const page = text('index.html')
const begins = files.filter((name) => page.includes(name)).flatMap((name) => (name.endsWith('.js') ? [...withImports(name)] : [name]))
const script = begins.filter((name) => name.endsWith('.js'))
const style = begins.filter((name) => name.endsWith('.css'))
const one = (form) => {
  const [name, ...more] = like(form)
  if (!name || more.length > 0) throw new Error(`${form} is not one file: the script does not know its files any more`)
  return [...withImports(name)]
}
const [tron, bitcoin] = [one(/\/base58-/), one(/\/bitcoin-/)]
const beforeCode = (...parts) => size('index.html') + longest('pay') + total([...begins, ...parts.flat()])

// The dashboard: all of its script together, and what it begins with.
const dashboard = new URL('../dist/dashboard/', import.meta.url)
const weigh = (name) => gzipSync(readFileSync(new URL(name, dashboard)), { level: 9 }).length
const scripts = readdirSync(new URL('assets/', dashboard)).filter((name) => name.endsWith('.js')).map((name) => `assets/${name}`)
const start = readFileSync(new URL('index.html', dashboard), 'utf8')
const allOf = (names) => names.reduce((sum, name) => sum + weigh(name), 0)
const button = gzipSync(readFileSync(new URL('../dist/button/till-button.js', import.meta.url)), { level: 9 }).length

let isOver = false
for (const [what, is, most] of [
  ['script at the start', total(script), 32 * KB],
  ['style', total(style), 6 * KB],
  ...['pay', 'later', 'help', 'link', 'refund'].map((group) => [`words of one language, ${group}`, longest(group), 2 * KB]),
  ['what Bitcoin needs besides', total(bitcoin.filter((name) => !begins.includes(name))), 16 * KB],
  ['all before the code shows, EVM', beforeCode(), 50 * KB],
  ['all before the code shows, TRON', beforeCode(tron), 50 * KB],
  ['all before the code shows, Bitcoin', beforeCode(bitcoin), 50 * KB],
  ['all before the code shows, all offered', beforeCode(tron, bitcoin), 50 * KB],
  ['dashboard, script at the start', allOf(scripts.filter((name) => start.includes(name))), 40 * KB],
  ['dashboard, script in all', allOf(scripts), 120 * KB],
  ['the button', button, 5 * KB],
]) {
  console.log(`${is > most ? 'OVER ' : ''}${what}: ${is} of ${most} bytes`)
  isOver ||= is > most
}
process.exit(isOver ? 1 : 0)
