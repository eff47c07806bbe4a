// Every language says everything, and no text stands in the code.

import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { chooseLanguage, languages } from '../src/words/words.ts'

const source = new URL('../src/', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, source), 'utf8')
const words = (language: string, group: string) =>
  JSON.parse(read(`words/${language}/${group}.json`)) as Record<string, string>

const GROUPS = ['pay', 'later', 'help', 'link', 'refund', 'demo']
const holes = (text: string) => [...text.matchAll(/\{\w+\}/g)].map((match) => match[0]).sort()
const stars = (text: string) => text.split('*').length

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))

describe.each(languages.map(([code]) => code))('%s', (code) => {
  test.each(GROUPS)('says all of %s, with the same holes and the same emphasis', (group) => {
    const english = words('en', group)
    const own = words(code, group)
    expect(Object.keys(own)).toEqual(Object.keys(english))
    for (const [name, text] of Object.entries(english)) {
      expect(own[name]?.trim(), name).toBeTruthy()
      expect(holes(own[name] ?? ''), name).toEqual(holes(text))
      expect(stars(own[name] ?? ''), name).toBe(stars(text))
      // Words are texts, not markup, and amounts keep their Latin digits.
      expect(own[name], name).not.toMatch(/[<>]|[٠-٩۰-۹]/)
    }
  })
})

test('no word is there for nothing', () => {
  const code = files.map((name) => read(name)).join('\n')
  for (const group of GROUPS) {
    for (const name of Object.keys(words('en', group))) {
      // Some names are put together, such as the ways to pay.
      const stem = name.replace(/_[a-z]+$/, '_')
      const isUsed = [`'${group}.${name}'`, `"${group}.${name}"`, `\`${group}.${stem}$`].some((use) => code.includes(use))
      expect(isUsed, `${group}.${name}`).toBe(true)
    }
  }
})

test('no text for people stands in the code', () => {
  const found: string[] = []
  for (const name of files.filter((file) => file.endsWith('.tsx'))) {
    const tree = ts.createSourceFile(name, read(name), ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX)
    const visit = (node: ts.Node): void => {
      if (ts.isJsxText(node) && /\p{L}{2}/u.test(node.text)) found.push(`${name}: ${node.text.trim()}`)
      const isLabel = ts.isJsxAttribute(node) && /^(aria-label|title|alt|placeholder|label)$/.test(node.name.getText())
      if (isLabel && node.initializer && ts.isStringLiteral(node.initializer)) {
        const { text } = node.initializer
        // An example of the form that is wanted is the same in every language.
        if (/\p{L}{2}/u.test(text) && text !== 'you@example.com') found.push(`${name}: ${text}`)
      }
      ts.forEachChild(node, visit)
    }
    visit(tree)
  }
  expect(found).toEqual([])
})

test('money is never made a number', () => {
  // Counting, times, colours, bytes and paths are numbers; each place is named.
  const allowed = /chain\/(bytes|bitcoin|secp256k1)\.ts|accent\.ts|api\/client\.ts|api\/read\.ts|parts\/lazy\.tsx/
  for (const name of files.filter((file) => !allowed.test(file))) {
    expect(read(name), name).not.toMatch(/\b(Number\(|parseFloat|parseInt|toFixed)/)
  }
})

test('the language is the first of the payer’s that there is', () => {
  expect(chooseLanguage(['de-AT', 'en'], [])).toBe('de')
  expect(chooseLanguage(['pt-PT'], [])).toBe('pt-BR')
  expect(chooseLanguage(['zh-TW', 'en'], [])).toBe('zh-Hans')
  expect(chooseLanguage(['FA-ir'], [])).toBe('fa')
  expect(chooseLanguage(['ja', 'ko'], [])).toBe('en')
  expect(chooseLanguage([], [])).toBe('en')
  expect(chooseLanguage(['de', 'fr'], ['fr', 'es'])).toBe('fr')
  expect(chooseLanguage(['de'], ['fr', 'es'])).toBe('es')
})
