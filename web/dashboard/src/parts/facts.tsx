import type { ComponentChildren } from 'preact'

export type Fact = readonly [name: string, value: ComponentChildren]

/** Names and values; those without a value are left out. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === null || value === undefined || value === false ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}
