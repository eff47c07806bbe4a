// Pairs that a merchant attaches to what they make: one per line, the name before the first `=`.

import type { Form, Values } from './form.tsx'
import { TextField } from './form.tsx'
import { Card } from './head.tsx'
import { t } from '../texts/t.ts'

/** The pairs of a text; lines without a name and a `=` are null, to be refused at the field. */
export function readPairs(text: string): Record<string, string> | null {
  const pairs: Record<string, string> = Object.create(null)
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const at = line.indexOf('=')
    const name = line.slice(0, at).trim()
    if (at < 0 || name === '' || name in pairs) return null
    pairs[name] = line.slice(at + 1).trim()
  }
  return { ...pairs }
}

export const writePairs = (pairs: Record<string, string>) =>
  Object.entries(pairs)
    .map(([name, value]) => `${name} = ${value}`)
    .join('\n')

export function MetadataField<V extends Values & { metadata: string }>({ form }: { form: Form<V> }) {
  const isOdd = readPairs(form.values.metadata) === null
  return <TextField form={form} name="metadata" label={t.metadata.title} hint={isOdd ? t.metadata.odd : t.metadata.hint} rows={3} isMono isOptional />
}

export function Metadata({ pairs }: { pairs: Record<string, string> }) {
  const all = Object.entries(pairs)
  if (all.length === 0) return null
  return (
    <Card title={t.metadata.title}>
      <dl class="facts">
        {all.map(([name, value]) => (
          <div key={name}>
            <dt class="mono">{name}</dt>
            <dd class="mono">{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}
