// Bytes and their hexadecimal form.

export function concat(...parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** The bytes of `0x…`, or null when the text is anything but exactly `length` bytes in lower or upper case. */
export function fromHex(text: string, length: number): Uint8Array | null {
  if (text.length !== 2 + 2 * length || !/^0x[0-9a-fA-F]*$/.test(text)) return null
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at++) bytes[at] = Number.parseInt(text.slice(2 + 2 * at, 4 + 2 * at), 16)
  return bytes
}

export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}
