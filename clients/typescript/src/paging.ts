export interface Page<Item> {
  readonly items: readonly Item[]
  readonly totalCount: number
  readonly page: number
  readonly pageSize: number
  readonly totalPages: number
  /** Cursor of the next page. A service before 0.2.0 gives none. */
  readonly next?: string | null
}

/** Items of a page, in every call that walks a list. */
export const PAGE_SIZE = 100

/** Place of a page: its number, or the cursor of the one before. */
export type From = { readonly page: number } | { readonly before: string }

/**
 * Walks a list page by page, newest first, as far as the reader does. Pages are read when they are reached, by cursor,
 * so that any depth costs the same; from a service that gives none, by number.
 */
export async function* itemsOf<Item>(
  read: (from: From) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let from: From = { page: 1 }
  for (let page = 2; ; page += 1) {
    const { items, totalPages, next } = await read(from)
    yield* items
    // A page of a search may be empty at its time limit, and the search continues.
    if (next === null || (next === undefined && (page > totalPages || items.length === 0))) return
    from = next === undefined ? { page } : { before: next }
  }
}

/** Walks a list whose items have an id, in their order. Arrivals shift pages, and no item is yielded twice. */
export async function* itemsByIdOf<Item extends { readonly id: number }>(
  read: (from: From) => Promise<Page<Item>>,
  order: 'asc' | 'desc' = 'desc',
): AsyncGenerator<Item, void, undefined> {
  let last: number | undefined
  for await (const item of itemsOf(read)) {
    if (last !== undefined && (order === 'asc' ? item.id <= last : item.id >= last)) continue
    last = item.id
    yield item
  }
}
