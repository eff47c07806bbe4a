// What came in per day, one chart per asset: different tokens are never added up.

import { useState } from 'preact/hooks'
import type { HomeVolume } from '#shared/api/types.ts'
import { add } from '#shared/money.ts'
import { utcDay } from '#shared/time.ts'
import { Chart, type Point } from '../../parts/chart.tsx'
import { Card } from '../../parts/head.tsx'
import { grouped, symbolOf } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'

const DAYS = 30
const DAY_MS = 86_400_000

interface Sum {
  amount: string
  payments: number
}

/** By symbol and day: the same token of several networks is one. */
export function bySymbol(volumes: HomeVolume[]): Map<string, Map<string, Sum>> {
  const found = new Map<string, Map<string, Sum>>()
  for (const { asset, day, amount, payments } of volumes) {
    const days = found.get(symbolOf(asset)) ?? new Map<string, Sum>()
    const before = days.get(day)
    days.set(day, { amount: before ? add(before.amount, amount) : amount, payments: payments + (before?.payments ?? 0) })
    found.set(symbolOf(asset), days)
  }
  return found
}

function points(days: Map<string, Sum>, now: string): Point[] {
  const last = Date.parse(now.slice(0, 10))
  return Array.from({ length: DAYS }, (_, at) => {
    const date = new Date(last - (DAYS - 1 - at) * DAY_MS)
    const { amount, payments } = days.get(date.toISOString().slice(0, 10)) ?? { amount: '0', payments: 0 }
    return { label: utcDay(date), size: Number(amount), text: grouped(amount), more: t.home.inPayments(payments), isOpen: at === DAYS - 1 }
  })
}

export function Received({ volumes, now }: { volumes: HomeVolume[]; now: string }) {
  const all = bySymbol(volumes)
  const [chosen, setChosen] = useState<string | null>(null)
  const symbol = chosen !== null && all.has(chosen) ? chosen : ([...all.keys()][0] ?? null)
  if (symbol === null) return null
  return (
    <Card title={t.home.received}>
      <div class="metrics">
        {[...all].map(([one, days]) => {
          const sums = [...days.values()]
          return (
            <button key={one} type="button" class="metric" aria-pressed={one === symbol} onClick={() => setChosen(one)}>
              <span class="dim">{one}</span>
              <b class="num">{grouped(sums.reduce((sum, day) => add(sum, day.amount), '0'))}</b>
              <span class="dim">{t.home.payments(sums.reduce((sum, day) => sum + day.payments, 0))}</span>
            </button>
          )
        })}
      </div>
      <Chart title={t.home.perDay(symbol)} unit={symbol} points={points(all.get(symbol) ?? new Map(), now)} />
    </Card>
  )
}
