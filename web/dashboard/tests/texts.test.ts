// Every text for people stands in texts/en.ts.

import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { en, enSetup } from '../src/texts/en.ts'

const src = new URL('../src/', import.meta.url)
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name) && !name.startsWith('texts/'))

/** Attributes that are read out or shown. */
const SHOWN = /^(aria-label|aria-description|aria-roledescription|title|label|placeholder|alt|hint|text|says)$/
/** At least two words, the first one as a sentence or a heading begins. */
const SENTENCE = /^[A-Z][a-z’]+[,:]? [a-z’]/

/** What stands for people in a file of code: between tags, in attributes that are shown, and sentences anywhere. */
function wordsIn(name: string, code: string): string[] {
  const found: string[] = []
  const look = (node: ts.Node): void => {
    // Names of keys are the same in every language, and what only programmers read is thrown.
    if (ts.isJsxElement(node) && node.openingElement.tagName.getText() === 'kbd') return
    if (ts.isThrowStatement(node)) return
    if (ts.isJsxText(node) && /[a-z]{2}/i.test(node.text)) found.push(node.text.trim())
    else if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) {
      const above = node.parent
      const isBetweenTags = ts.isJsxExpression(above) && ts.isJsxElement(above.parent) && /[a-z]{2}/i.test(node.text)
      const isShown = ts.isJsxAttribute(above) && SHOWN.test(above.name.getText()) && /[a-z]{2}/i.test(node.text)
      if (isBetweenTags || isShown || SENTENCE.test(node.text)) found.push(node.text)
    }
    ts.forEachChild(node, look)
  }
  look(ts.createSourceFile(name, code, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX))
  return found
}

test.each(files)('%s has no text of its own', (name) => {
  expect(wordsIn(name, readFileSync(new URL(name, src), 'utf8'))).toEqual([])
})

test('a text in the code is found wherever it stands', () => {
  for (const code of [
    '<p>Paid late</p>',
    '<p>\n  all of it\n</p>',
    "<p>{'paid'}</p>",
    '<input aria-label="amount" />',
    "<b>{isOpen ? 'Still open' : x}</b>",
    "toast('Saved for good')",
    '`Wait for ${time}`',
  ]) {
    expect(wordsIn('a.tsx', code), code).toHaveLength(1)
  }
  expect(wordsIn('a.tsx', '<p class="time far"><kbd>Enter</kbd>{t.a} · <i title={t.b} /></p>')).toEqual([])
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
