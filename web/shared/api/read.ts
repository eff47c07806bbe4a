// Reading answers: nothing that arrives is believed to have a shape before it was looked at.

export type Reader<T> = (value: unknown) => T

/** The answer is not what the API describes. */
export class Unreadable extends Error {
  override name = 'Unreadable'
}

const no = (what: string): never => {
  throw new Unreadable(what)
}

export const text: Reader<string> = (value) => (typeof value === 'string' ? value : no('text'))

/** One of some words. One that is newer than this page is taken as it is: who shows it falls back. */
export const word = <T extends string>(): Reader<T> => text as Reader<T>

export const flag: Reader<boolean> = (value) => (typeof value === 'boolean' ? value : no('true or false'))

/** A decimal number, kept as the text it is: money is never a number here. */
export const decimal: Reader<string> = (value) => {
  const read = text(value)
  return /^[0-9]{1,60}(\.[0-9]{1,60})?$/.test(read) ? read : no('decimal')
}

export const instant: Reader<string> = (value) => {
  const read = text(value)
  return Number.isNaN(Date.parse(read)) ? no('time') : read
}

export function oneOf<const T extends string>(...words: T[]): Reader<T> {
  return (value) => words.find((word) => word === value) ?? no('one of the known words')
}

/** Absent counts as null: a field may be left out where it has no value. */
export function maybe<T>(inner: Reader<T>): Reader<T | null> {
  return (value) => (value === null || value === undefined ? null : inner(value))
}

export function list<T>(inner: Reader<T>): Reader<T[]> {
  return (value) => (Array.isArray(value) ? value.map(inner) : no('list'))
}

export function record<T extends Record<string, unknown>>(fields: { [K in keyof T]: Reader<T[K]> }): Reader<T> {
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return no('object')
    const read: Record<string, unknown> = {}
    for (const name in fields) {
      const given = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
      read[name] = fields[name](given)
    }
    return read as T
  }
}

/** A part of an object that the API describes: each field must be one of its own, read as what it is. */
export function part<T>() {
  return <F extends { [N in keyof F]: N extends keyof T ? Reader<Exclude<T[N], undefined>> : never }>(fields: F) =>
    record(fields as Record<string, Reader<unknown>>) as Reader<{ [N in keyof F]: ReturnType<F[N]> }>
}
