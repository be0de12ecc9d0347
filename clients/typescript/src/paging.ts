/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly totalCount: number
  readonly page: number
  readonly pageSize: number
  readonly totalPages: number
}

/** Of every call that walks a list. */
export const PAGE_SIZE = 100

/** Walks a list page by page, newest first, as far as the reader does. Pages are read when they are reached. */
export async function* itemsOf<Item>(
  read: (page: number) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  for (let page = 1; ; page += 1) {
    const { items, totalPages } = await read(page)
    yield* items
    if (page >= totalPages || items.length === 0) return
  }
}

/** Walks a list whose items have an id: what arrives meanwhile shifts pages, and is not yielded twice. */
export async function* itemsByIdOf<Item extends { readonly id: number }>(
  read: (page: number) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let below = Number.POSITIVE_INFINITY
  for await (const item of itemsOf(read)) {
    if (item.id >= below) continue
    below = item.id
    yield item
  }
}
