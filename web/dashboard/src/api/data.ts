// What a screen asks for when it opens, and a page of a list.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { usePlace } from '../app/router.ts'
import { get, type List, type Query } from './client.ts'
import { useOrganization } from './session.ts'

export interface Data<T> {
  value: T | null
  error: unknown
  /** Asks again; what is shown stays until the answer comes. */
  reload: () => Promise<void>
  /** Shows what an answer to a POST brought. */
  set: (value: T) => void
}

/** Asks when the screen opens, and again when the mode, the organisation or one of `deps` changes. */
export function useData<T>(ask: () => Promise<T>, deps: unknown[] = []): Data<T> {
  const { mode } = usePlace()
  const account = useOrganization()?.id
  const [state, setState] = useState<{ value: T | null; error: unknown }>({ value: null, error: null })
  const latest = useRef(0)
  const asked = useCallback(ask, [mode, account, ...deps])
  const reload = useCallback(async () => {
    const turn = ++latest.current
    try {
      const value = await asked()
      if (turn === latest.current) setState({ value, error: null })
    } catch (error) {
      if (turn === latest.current) setState((before) => ({ value: before.value, error }))
    }
  }, [asked])
  useEffect(() => {
    setState({ value: null, error: null })
    void reload()
    return () => void latest.current++
  }, [reload])
  return { ...state, reload, set: (value) => setState({ value, error: null }) }
}

export interface Page<T> extends Data<List<T>> {
  /** Whether filters are set: an empty list then says so. */
  isFiltered: boolean
}

/** On one page of a list. */
export const ROWS = 25

/** A page of a list. The address says which page, and which of `filters` are set. */
export function useList<T>(path: string, filters: readonly string[] = [], fixed: Query = {}): Page<T> {
  const { query } = usePlace()
  const set = Object.fromEntries(filters.map((name) => [name, query.get(name)]))
  const all = { limit: ROWS, ...fixed, ...set, cursor: query.get('cursor') }
  const page = useData(() => get<List<T>>(path, all), [path, JSON.stringify(all)])
  return { ...page, isFiltered: Object.values(set).some((value) => value !== null) }
}
