// A value that several parts of the page look at.

import { useEffect, useState } from 'preact/hooks'

export interface Store<T> {
  get: () => T
  set: (value: T) => void
  /** The value, drawn again whenever it changes. */
  use: () => T
  /** Calls back at each change until what it returns is called. */
  watch: (changed: () => void) => () => void
}

export function store<T>(initial: T): Store<T> {
  let value = initial
  const watchers = new Set<() => void>()
  const watch = (changed: () => void) => {
    watchers.add(changed)
    return () => void watchers.delete(changed)
  }
  return {
    get: () => value,
    set: (next) => {
      if (next === value) return
      value = next
      for (const changed of [...watchers]) changed()
    },
    watch,
    use: () => {
      const [, draw] = useState(0)
      useEffect(() => {
        const seen = value
        const stop = watch(() => draw((count) => count + 1))
        // It may have changed between drawing and watching.
        if (seen !== value) draw((count) => count + 1)
        return stop
      }, [])
      return value
    },
  }
}
