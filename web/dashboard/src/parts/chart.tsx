// Two charts drawn by hand: bars for amounts per day, a line for levels. What is chosen is read in a fixed line above, with
// the pointer or the arrow keys, and a table behind each says the same.

import { useId, useState } from 'preact/hooks'
import { t } from '../texts/t.ts'

export interface Point {
  /** On the axis and in the table. */
  label: string
  /** Decides the height only; never shown. */
  size: number
  /** What is shown: exact. */
  text: string
  /** In the reading, after the value. */
  more?: string
  /** A day that is not over yet. */
  isOpen?: boolean
}

interface Props {
  /** What is drawn, such as "USDC received per day". */
  title: string
  /** The head of the table's second column. */
  unit: string
  points: Point[]
  kind?: 'bars' | 'line'
  /** What the points are, where they are no days: the head of the table's first column. */
  of?: string
}

const WIDTH = 720
const HEIGHT = 200
const LINES = 3
/** How many labels the axis has room for. */
const LABELS = 5
const WEEK = 7
/** So many days are marked week by week. */
const MONTH = 28

/** The end of the scale: a round number that all points lie below, in as many equal steps as there are lines. */
export function scaleEnd(most: number): number {
  if (most <= 0) return LINES
  const step = most / LINES
  const power = 10 ** Math.floor(Math.log10(step))
  const round = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= step * (1 - 1e-9)) ?? 10
  return round * power * LINES
}

const written = (value: number) => new Intl.NumberFormat('en', { maximumFractionDigits: 8 }).format(value)

function Bars({ points, end, chosen }: { points: Point[]; end: number; chosen: number }) {
  const step = WIDTH / points.length
  return (
    <>
      {points.map((point, at) => {
        const height = (point.size / end) * HEIGHT
        const name = at === chosen ? 'hot' : point.isOpen ? 'part' : undefined
        return <rect key={point.label} class={name} x={(at + 1 / 6) * step} y={HEIGHT - height} width={(step * 2) / 3} height={height} />
      })}
    </>
  )
}

function Line({ points, end, chosen }: { points: Point[]; end: number; chosen: number }) {
  const step = WIDTH / Math.max(1, points.length - 1)
  const at = (point: Point, index: number) => `${index * step} ${HEIGHT - (point.size / end) * HEIGHT}`
  return (
    <>
      <path class="line" d={`M${points.map(at).join('L')}`} />
      <path class="mark" d={`M${chosen * step} 0V${HEIGHT}`} />
    </>
  )
}

export function Chart({ title, unit, points, kind = 'bars', of = t.chart.day }: Props) {
  const highest = points.reduce((best, point, at) => (point.size > (points[best]?.size ?? 0) ? at : best), 0)
  const [picked, setPicked] = useState<number | null>(null)
  const id = useId()
  const chosen = Math.min(picked ?? highest, points.length - 1)
  const point = points[chosen]
  const first = points[0]
  if (!point || !first) return null
  const end = scaleEnd(Math.max(...points.map((one) => one.size)))
  const every = points.length < MONTH ? Math.ceil(points.length / LABELS) : Math.max(WEEK, Math.ceil(points.length / LABELS))
  const isToday = points.length >= MONTH && points.at(-1)?.isOpen === true
  const reading = `${point.label}: ${point.text} ${unit}${point.more ? ` ${point.more}` : ''}`
  const pick = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect()
    setPicked(Math.max(0, Math.min(points.length - 1, Math.floor(((event.clientX - box.left) / box.width) * points.length))))
  }
  const press = (event: KeyboardEvent) => {
    const to = { ArrowLeft: chosen - 1, ArrowRight: chosen + 1, Home: 0, End: points.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    setPicked(Math.max(0, Math.min(points.length - 1, to)))
  }
  const best = points[highest]
  const summary = t.chart.summary(title, first.label, points.at(-1)?.label ?? '', `${best?.label}, ${best?.text} ${unit}`)
  return (
    <div class="stack">
      <div class="chart">
        <p class="readout" id={id}>
          {point.label}:{' '}
          <b class="num">
            {point.text} {unit}
          </b>{' '}
          {point.more}
        </p>
        <div
          class="plot"
          role="slider"
          tabIndex={0}
          aria-label={summary}
          aria-valuemin={0}
          aria-valuemax={points.length - 1}
          aria-valuenow={chosen}
          aria-valuetext={reading}
          title={t.chart.choose(of)}
          onPointerMove={pick}
          onPointerDown={pick}
          onKeyDown={press}
        >
          <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
            {kind === 'bars' ? <Bars points={points} end={end} chosen={chosen} /> : <Line points={points} end={end} chosen={chosen} />}
          </svg>
        </div>
        <div class="yax num" aria-hidden="true">
          {[3, 2, 1].map((line) => (
            <span key={line}>{written((end / LINES) * line)}</span>
          ))}
        </div>
        <div class="xax" aria-hidden="true" style={{ gridTemplateColumns: `repeat(${points.length}, minmax(0, 1fr))` }}>
          {points.map((one, at) =>
            at % every === 0 && at + every <= points.length ? (
              <span key={one.label} style={{ gridColumn: `${at + 1} / span ${every}` }}>
                {one.label}
              </span>
            ) : null,
          )}
          {isToday && (
            <span class="last" style={{ gridColumn: String(points.length) }}>
              {t.chart.today}
            </span>
          )}
        </div>
      </div>
      <details>
        <summary>{t.chart.asTable}</summary>
        <table>
          <caption class="sr">{title}</caption>
          <thead>
            <tr>
              <th scope="col">{of}</th>
              <th scope="col" class="r">
                {unit}
              </th>
            </tr>
          </thead>
          <tbody>
            {points.map((one) => (
              <tr key={one.label}>
                <td>{one.label}</td>
                <td class="r num">
                  {one.text} {one.more && <span class="dim">{one.more}</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </div>
  )
}
