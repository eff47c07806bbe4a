import { useEffect, useRef, useState } from 'preact/hooks'
import { nowMs } from '../api/client.ts'
import { clock } from '#shared/time.ts'
import { left } from '../time.ts'
import { t } from '../words/words.ts'
import { announce } from '#shared/parts/announce.tsx'
import { Icon } from '#shared/parts/icon.tsx'

const TICK_MS = 5_000
const MINUTE_MS = 60_000
/** From when on the strip warns. */
const WARN_MS = 5 * MINUTE_MS

/** Now, looked at every few seconds. */
export function useNow(): number {
  const [now, setNow] = useState(nowMs)
  useEffect(() => {
    const look = () => setNow(nowMs())
    const timer = setInterval(look, TICK_MS)
    // Timers rest while another app is in front.
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [])
  return now
}

interface Deadline {
  at: string
  word: 'pay.before' | 'pay.rest_before' | 'pay.choose_before'
  now: number
}

/** Until when to pay, in words. It is said aloud twice: at five minutes and at one. */
export function Deadline({ at, word, now }: Deadline) {
  const remaining = Date.parse(at) - now
  const said = useRef(stage(remaining))
  useEffect(() => {
    const reached = stage(remaining)
    if (reached > said.current) announce(left(remaining))
    said.current = reached
  })
  return (
    <p class={`due ${remaining < WARN_MS ? 'warn' : ''}`}>
      <Icon name="clock" />
      <span>
        <b>{t(word, { time: clock(at, now) })}</b>
        <span class="dim">{left(remaining)}</span>
      </span>
    </p>
  )
}

const stage = (ms: number) => (ms < MINUTE_MS ? 2 : ms < WARN_MS ? 1 : 0)
