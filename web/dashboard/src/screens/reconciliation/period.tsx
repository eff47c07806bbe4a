// The period that is looked at: whole days of UTC, as the books count them; the address says which.

import { useId } from 'preact/hooks'
import { filter, usePlace } from '../../app/router.ts'
import { t } from '../../texts/t.ts'

const DAY_MS = 86_400_000
const DAY = /^\d{4}-\d{2}-\d{2}$/

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

export interface Period {
  /** The first day and the last, both within it; null: the last 30 days. */
  first: string | null
  last: string | null
}

export function periodOf(query: URLSearchParams): Period {
  const day = (name: string) => {
    const text = query.get(name)
    return text !== null && DAY.test(text) && !Number.isNaN(Date.parse(text)) ? text : null
  }
  return { first: day('from'), last: day('to') }
}

/** As the API has it: up to the moment after the last day. */
export function asked({ first, last }: Period): { from: string | null; to: string | null } {
  return { from: first, to: last === null ? null : dayOf(Date.parse(last) + DAY_MS) }
}

export const PRESETS: readonly [name: keyof typeof t.reconciliation.presets, of: (now: Date) => Period][] = [
  ['month', () => ({ first: null, last: null })],
  ['week', (now) => ({ first: dayOf(now.getTime() - 6 * DAY_MS), last: dayOf(now.getTime()) })],
  ['thisMonth', (now) => ({ first: dayOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)), last: dayOf(now.getTime()) })],
  [
    'lastMonth',
    (now) => ({ first: dayOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)), last: dayOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0)) }),
  ],
]

export function PeriodPicker() {
  const { query } = usePlace()
  const id = useId()
  const now = periodOf(query)
  const set = ({ first, last }: Period) => filter({ from: first, to: last })
  const field = (name: 'first' | 'last', label: string) => (
    <div class="field day">
      <label class="label" for={`${id}${name}`}>
        {label}
      </label>
      <input id={`${id}${name}`} type="date" value={now[name] ?? ''} onChange={(event) => set({ ...now, [name]: event.currentTarget.value || null })} />
    </div>
  )
  return (
    <div class="period">
      <fieldset class="row days">
        <legend class="sr">{t.reconciliation.period}</legend>
        {field('first', t.reconciliation.first)}
        {field('last', t.reconciliation.last)}
      </fieldset>
      <div class="filters">
        {PRESETS.map(([name, of]) => {
          const period = of(new Date())
          const isThis = period.first === now.first && period.last === now.last
          return (
            <button key={name} type="button" class="chip set" aria-pressed={isThis} onClick={() => set(period)}>
              {t.reconciliation.presets[name]}
            </button>
          )
        })}
      </div>
    </div>
  )
}
