import { useEffect, useRef } from 'preact/hooks'

/** Asking also keeps a session alive: a page that nobody touches any more stops asking, so that the session can end. */
const UNTOUCHED_MS = 600_000

/** Asks again and again while somebody looks at the page. */
export function useOften(ask: () => unknown, everyMs: number): void {
  const latest = useRef(ask)
  latest.current = ask
  useEffect(() => {
    let touchedAt = Date.now()
    const touched = () => {
      touchedAt = Date.now()
    }
    const timer = setInterval(() => {
      if (!document.hidden && Date.now() - touchedAt < UNTOUCHED_MS) latest.current()
    }, everyMs)
    const signs = ['pointermove', 'keydown', 'visibilitychange'] as const
    for (const sign of signs) document.addEventListener(sign, touched)
    return () => {
      clearInterval(timer)
      for (const sign of signs) document.removeEventListener(sign, touched)
    }
  }, [everyMs])
}
