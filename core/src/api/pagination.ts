import { z } from 'zod'

/** `page` and `pageSize` of every list. */
export const pageInput = {
  page: z.int().min(1).default(1).meta({ description: '1-based; past the end answers no items' }),
  pageSize: z.int().min(1).max(100).default(50).meta({ description: 'Items a page' }),
}

/** Which page of a list: `page` is 1-based, `pageSize` is 1 to 100. */
export interface Page {
  readonly page: number
  readonly pageSize: number
}

/** The pagination envelope around an item schema; named after it. */
export function envelope<Item extends z.ZodType>(item: Item) {
  const page = z.object({
    items: z.array(item),
    totalCount: z.int().meta({ description: 'Everything the query matches after filters' }),
    page: z.int(),
    pageSize: z.int(),
    totalPages: z.int().meta({ description: '0 when nothing matches' }),
  })
  const name = z.globalRegistry.get(item)?.id
  return name === undefined ? page : page.meta({ id: `${name}Page` })
}

/** LIMIT and OFFSET of a page. */
export function window({ page, pageSize }: Page): { limit: number; offset: number } {
  return { limit: pageSize, offset: (page - 1) * pageSize }
}

/** Wraps one page of items. `totalPages` is 0 when nothing matches. */
export function paged<Item>(items: Item[], totalCount: number, { page, pageSize }: Page) {
  return { items, totalCount, page, pageSize, totalPages: Math.ceil(totalCount / pageSize) }
}
