// Parts that are fetched when they are needed, with their words.

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { recall, remember } from '#shared/keep.ts'
import { type Group, loadWords } from '../words/words.ts'

export function lazy<P extends object>(group: Group, load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let found: ComponentType<P> | null = null
  return function Lazy(props: P) {
    const [Part, setPart] = useState<ComponentType<P> | null>(() => found)
    useEffect(() => {
      let isGone = false
      Promise.all([load(), loadWords(group)]).then(
        ([part]) => {
          found = part
          if (!isGone) setPart(() => part)
        },
        // Without a connection the part stays away; what is shown goes on working.
        () => {},
      )
      return () => {
        isGone = true
      }
    }, [])
    return Part ? <Part {...props} /> : null
  }
}

/** How long after the page was drawn the parts are fetched that it may need later. */
const AHEAD_MS = 1_000
/** How soon a part that did not come is asked for again. */
const AGAIN_MS = 3_000
/** How often at most a page loads itself anew for a part that it needs. */
const RELOAD_MS = 60_000

/**
 * Browsers remember that a script did not come, and do not ask for it a second time: only a new page can. What it
 * shows is the server's to say, so that nothing is lost by it.
 */
function reload(): void {
  const now = Date.now()
  if (now - Number(recall('reloaded') ?? 0) < RELOAD_MS) return
  remember('reloaded', String(now))
  location.reload()
}

type Ahead<T> = { part: T | null; isAway: boolean }

/**
 * A part that is fetched before it is needed: what it says may have to be said when the connection is worst. The hook
 * gives null until it is there, and says when it could not be had.
 */
export function ahead<T>(group: Group, load: () => Promise<T>): (isNeeded: boolean) => Ahead<T> {
  let found: T | null = null
  return (isNeeded) => {
    const [tries, setTries] = useState(0)
    const [part, setPart] = useState<T | null>(() => found)
    useEffect(() => {
      if (part !== null) return
      const fetch = () => {
        // Not tried where it must fail.
        if (!navigator.onLine) return setTries(tries + 1)
        Promise.all([load(), loadWords(group)]).then(
          ([came]) => setPart((found = came)),
          () => {
            if (isNeeded && tries > 0) reload()
            setTries(tries + 1)
          },
        )
      }
      const timer = setTimeout(fetch, tries > 0 ? AGAIN_MS : isNeeded ? 0 : AHEAD_MS)
      return () => clearTimeout(timer)
    }, [isNeeded, tries, part])
    return { part, isAway: part === null && tries > 0 }
  }
}
