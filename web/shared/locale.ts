// The language that times and numbers are written in. Each page sets it when it knows its own.

let language = 'en'

export const locale = () => language

export function setLocale(to: string): void {
  language = to
}
