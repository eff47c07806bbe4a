// Every text for people stands in texts/en.ts and en-setup.ts.

import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { enSetup } from '../src/texts/en-setup.ts'
import { en } from '../src/texts/en.ts'

const src = new URL('../src/', import.meta.url)
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx$/.test(name))

/** Words between tags: not code, not a single sign. */
const WORDS = /(?<!=)>\s*([A-Z][a-z]+(?: [a-z’]+)*[.?]?)\s*</g
/** Attributes that are read out or shown. */
const ATTRIBUTES = /\b(?:aria-label|title|label|placeholder|alt|hint)="([^"]*[a-z][^"]*)"/g

test.each(files)('%s has no text of its own', (name) => {
  const code = readFileSync(new URL(name, src), 'utf8').replace(/<kbd>.*?<\/kbd>/g, '')
  const found = [...code.matchAll(WORDS), ...code.matchAll(ATTRIBUTES)].map((match) => match[1])
  expect(found).toEqual([])
})

test('texts say nothing twice over and shout at nobody', () => {
  const all: string[] = []
  const collect = (value: unknown): void => {
    if (typeof value === 'string') all.push(value)
    else if (value && typeof value === 'object') Object.values(value).forEach(collect)
  }
  collect(en)
  collect(enSetup)
  expect(all.length).toBeGreaterThan(100)
  for (const text of all) {
    expect(text, text).not.toMatch(/!|\b(oops|please|blockchain|on-chain|mempool)\b/i)
    expect(text.trim()).toBe(text)
  }
})
