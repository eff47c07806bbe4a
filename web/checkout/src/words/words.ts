// The words of the page, in the payer's language. They live in JSON files, one per language and part of
// the pages, loaded when that part is shown.

import names from './languages.json'

export type Language = keyof typeof names
export const languages = Object.entries(names) as [Language, string][]

interface Groups {
  pay: typeof import('./en/pay.json')
  help: typeof import('./en/help.json')
  link: typeof import('./en/link.json')
  refund: typeof import('./en/refund.json')
  demo: typeof import('./en/demo.json')
}
export type Group = keyof Groups
export type Word = { [G in Group]: `${G}.${keyof Groups[G] & string}` }[Group]
type Words = Record<string, string>

const files = import.meta.glob<Words>('./*/*.json', { import: 'default' })

let language: Language = 'en'
const loaded = new Map<string, Words>()

export const locale = () => language
/** Arabic and Persian are written from the right. */
export const direction = () => (language === 'ar' || language === 'fa' ? 'rtl' : 'ltr')

/** Loads a group of words. A group that a language does not have is in English. */
export async function loadWords(group: Group): Promise<void> {
  if (loaded.has(group)) return
  const file = files[`./${language}/${group}.json`] ?? files[`./en/${group}.json`]
  const words = await file?.()
  if (words) loaded.set(group, words)
}

/** Changes the language: what was loaded is loaded again in the new one. */
export async function setLanguage(to: Language): Promise<void> {
  language = to
  const groups = [...loaded.keys()] as Group[]
  loaded.clear()
  await Promise.all(groups.map(loadWords))
  document.documentElement.lang = to
  document.documentElement.dir = direction()
}

/** The best of our languages for what was asked for, in order of preference. */
export function chooseLanguage(wanted: readonly string[], offered: readonly string[]): Language {
  const ours = languages.map(([code]) => code).filter((code) => offered.length === 0 || offered.includes(code))
  const base = (code: string) => code.toLowerCase().split('-')[0]
  for (const want of wanted) {
    const exact = ours.find((code) => code.toLowerCase() === want.toLowerCase())
    const found = exact ?? ours.find((code) => base(code) === base(want))
    if (found) return found
  }
  return ours[0] ?? 'en'
}

export type Vars = Record<string, string>

/** A word as it stands in its file. */
export function template(word: Word): string {
  const [group = '', key = ''] = word.split('.')
  return loaded.get(group)?.[key] ?? word
}

export function t(word: Word, vars: Vars = {}): string {
  return template(word)
    .replaceAll('*', '')
    .replace(/\{(\w+)\}/g, (hole, name: string) => vars[name] ?? hole)
}
