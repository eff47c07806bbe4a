// The words of the page, in the payer's language. They live in JSON files, one per language and part of
// the pages, loaded when that part is shown.

import { files } from 'till:words'
import { setLocale } from '#shared/locale.ts'
import inTheirOwn from './languages.json'

export type Language = keyof typeof inTheirOwn
export const languages = Object.entries(inTheirOwn) as [Language, string][]

interface Groups {
  pay: typeof import('./en/pay.json')
  later: typeof import('./en/later.json')
  help: typeof import('./en/help.json')
  link: typeof import('./en/link.json')
  refund: typeof import('./en/refund.json')
  demo: typeof import('./en/demo.json')
}
export type Group = keyof Groups
export type Word = { [G in Group]: `${G}.${keyof Groups[G] & string}` }[Group]
/** In the order of the English ones: the build has put a word's place where the code has its name. */
type Words = string[]

let language: Language = 'en'
let loaded = new Map<Group, Words>()
/** Every page needs the first; the others join when their part is shown. */
const wanted = new Set<Group>(['pay'])

export const locale = () => language
/** Arabic and Persian are written from the right. */
export const direction = () => (language === 'ar' || language === 'fa' ? 'rtl' : 'ltr')

async function fetched(from: Language, group: Group): Promise<Words> {
  return (await files[`${from}/${group}`]?.())?.default ?? []
}

export async function loadWords(group: Group): Promise<void> {
  wanted.add(group)
  if (loaded.has(group)) return
  const from = language
  const words = await fetched(from, group)
  // The language may have changed meanwhile; it brought its own words.
  if (from === language) loaded.set(group, words)
}

/** Changes the language in one step, once all that is shown has its words. */
export async function setLanguage(to: Language): Promise<void> {
  const groups = [...wanted]
  const words = await Promise.all(groups.map((group) => fetched(to, group)))
  language = to
  setLocale(to)
  loaded = new Map(groups.map((group, at) => [group, words[at] as Words]))
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

/** A word as it stands in its file. */
export function template(word: Word): string {
  const [group, place] = word.split('.') as [Group, keyof Words & string]
  return (loaded.get(group)?.[place] as string | undefined) ?? word
}

export function t(word: Word, vars: Record<string, string> = {}): string {
  return template(word)
    .replaceAll('*', '')
    .replace(/\{(\w+)\}/g, (hole, name: string) => vars[name] ?? hole)
}

/** The name of a shop where a sentence or a title begins: one without a name is called "the shop". */
export const asStart = (name: string) => (name === t('pay.shop') ? name.charAt(0).toUpperCase() + name.slice(1) : name)
