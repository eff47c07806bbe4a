/** Lines of `name: value`. A line without a colon is a name with an empty value, which the server may refuse. */
export function readPairs(text: string): Record<string, string> {
  const pairs: Record<string, string> = {}
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '') continue
    const at = line.indexOf(':')
    const name = at < 0 ? line : line.slice(0, at).trim()
    // As a property of its own also where the name is one that every object has.
    Object.defineProperty(pairs, name, { value: at < 0 ? '' : line.slice(at + 1).trim(), enumerable: true, configurable: true, writable: true })
  }
  return pairs
}
