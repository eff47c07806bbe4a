// Parts that are fetched when they are needed, with their words.

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
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
