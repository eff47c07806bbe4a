import { get, type List, type Query } from './client.ts'

const PAGE = 100

interface Until {
  cursor?: string | null
  /** So many pages are read at most. */
  pages: number
  /** Ends once so many are found. */
  enough?: number
}

/** Reads a list page by page and keeps the rows that are wanted: for what the server's list has no filter for. Where it ended before the list did, `next_cursor` goes on. */
export async function gather<T>(path: string, query: Query, isWanted: (row: T) => boolean, { cursor = null, pages, enough = Number.POSITIVE_INFINITY }: Until): Promise<List<T>> {
  const data: T[] = []
  let next: string | null = cursor
  for (let read = 0; read < pages && data.length < enough && (read === 0 || next !== null); read++) {
    const page: List<T> = await get(path, { ...query, limit: PAGE, cursor: next })
    data.push(...page.data.filter(isWanted))
    next = page.next_cursor
  }
  return { data, next_cursor: next }
}
