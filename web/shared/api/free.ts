// Texts that whoever holds the server can fill as they like: what was ordered, names, symbols. An address in one of them
// would stand beside the one that this page computed, so it is left out before anything is shown.
// The server does the same in its mails (crates/engine/src/mail/free_text.rs); testdata/free_text.json holds both.

import { type Reader, text } from './read.ts'

/** Stands where something like an address was. */
export const LEFT_OUT = '[…]'

/** Order numbers are often such, and no address is. */
const UUID = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi
/** Addresses are longer than this, in one piece or in groups; so much may stand between two groups. */
const SHORTEST = 30
const LONGEST = 120
const GAP = 3

const hasBoth = (word: string) => /\d/.test(word) && /[a-z]/i.test(word)
/** Not as words are written: digits among letters, or a capital in the middle. Shorter ones are counts ("2x"). */
const isOdd = (word: string) => word.length > 2 && (hasBoth(word) || (/[a-z]/.test(word) && /.[A-Z]/.test(word)))
const isOldBitcoin = (word: string) => word.length > 25 && /^[123mn]/.test(word) && /\d/.test(word) && /[a-z]/.test(word) && /[A-Z]/.test(word)
const isWhole = (word: string) => (word.length >= SHORTEST && hasBoth(word) && !/^[0-9a-f]{32}$/i.test(word)) || isOldBitcoin(word)

type Found = { word: string; from: number; to: number }

/** Which is the last piece of an address that begins with this one; none when it begins none. */
function lastOf(all: Found[], first: number): number | null {
  const begin = all[first] as Found
  if (isWhole(begin.word)) return first
  let [joined, odd, tiny] = [0, 0, 0]
  let last: number | null = null
  for (let at = first; at < all.length && joined < LONGEST; at++) {
    const { word, from } = all[at] as Found
    if (word.length >= SHORTEST || (at > first && from - (all[at - 1] as Found).to > GAP)) break
    joined += word.length
    if (isOdd(word)) odd++
    if (word.length < 3) tiny++
    const count = at - first + 1
    const isGrouped = isOdd(begin.word) && isOdd(word) && odd * 2 >= count
    if (joined >= SHORTEST && (isGrouped || tiny === count)) last = at
  }
  return last
}

export function withoutAddresses(said: string): string {
  // What nobody sees must not hide an address.
  const bare = said.replace(/\p{Cf}/gu, '')
  const searched = bare.replace(UUID, (id) => ' '.repeat(id.length))
  const all = Array.from(searched.matchAll(/[0-9a-z]+/gi), ({ 0: word, index }) => ({ word, from: index, to: index + word.length }))
  let kept = ''
  let from = 0
  for (let at = 0; at < all.length; at++) {
    const last = lastOf(all, at)
    if (last === null) continue
    kept += bare.slice(from, all[at]?.from) + LEFT_OUT
    from = all[last]?.to ?? from
    at = last
  }
  return kept === '' ? said : kept + bare.slice(from)
}

/** A text for people, without anything like an address. */
export const free: Reader<string> = (value) => withoutAddresses(text(value))

/** A transaction's id, which is longer than addresses are; anything else is a text like others. */
export const hash: Reader<string> = (value) => (/^(0x)?[0-9a-f]{64}$|^[1-9a-z]{64,90}$/i.test(text(value)) ? text(value) : free(value))
