// Lists: the items of all pages, one after the other, or one page at a time.

import type { Page } from './types.ts'

/** A list. Iterate over it for all items, newest first, or await it for its first page. */
export class Pages<Item> implements AsyncIterable<Item>, PromiseLike<Page<Item>> {
  readonly #fetchPage: (cursor: string | undefined) => Promise<Page<Item>>
  readonly #start: string | undefined

  constructor(fetchPage: (cursor: string | undefined) => Promise<Page<Item>>, start: string | undefined) {
    this.#fetchPage = fetchPage
    this.#start = start
  }

  /** The first page; the next is a list that begins at its `next_cursor`. */
  page(): Promise<Page<Item>> {
    return this.#fetchPage(this.#start)
  }

  then<Value = Page<Item>, Failure = never>(
    fulfilled?: ((page: Page<Item>) => Value | PromiseLike<Value>) | null,
    rejected?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Value | Failure> {
    return this.page().then(fulfilled, rejected)
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Item> {
    let cursor = this.#start
    do {
      const page = await this.#fetchPage(cursor)
      yield* page.data
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
  }
}
