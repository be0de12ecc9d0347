import { z } from 'zod'

/** `page` and `pageSize` of every list. */
export const pageInput = {
  page: z
    .int()
    .min(1)
    .default(1)
    .describe('1-based, from the cursor if there is one; past the end answers no items'),
  pageSize: z.int().min(1).max(100).default(50).describe('Items a page'),
}

/** A page of a list: `page` is 1-based, `pageSize` is 1 to 100. */
export interface Page {
  readonly page: number
  readonly pageSize: number
}

const nextAndPrevious = {
  next: z
    .string()
    .nullable()
    .describe('Cursor of what follows this page: give it as `before`. Null when nothing follows'),
  previous: z
    .string()
    .nullable()
    .describe('Cursor of what is newer than this page: give it as `after`. Null when the page is empty'),
}

/** The pagination envelope around an item schema, named after it. `more`: further members of the envelope. */
export function envelope<Item extends z.ZodType, More extends z.core.$ZodLooseShape = Record<never, never>>(
  item: Item,
  more?: More,
) {
  const page = z.object({
    items: z.array(item),
    totalCount: z.int().describe('Everything the query matches after filters, wherever a cursor stands'),
    page: z.int(),
    pageSize: z.int(),
    totalPages: z.int().describe('0 when nothing matches'),
    ...nextAndPrevious,
    ...(more ?? ({} as More)),
  })
  const name = z.globalRegistry.get(item)?.id
  return name === undefined ? page : page.meta({ id: `${name}Page` })
}

export function window({ page, pageSize }: Page): { limit: number; offset: number } {
  return { limit: pageSize, offset: (page - 1) * pageSize }
}

/** One page of rows, and how many rows the query matches. */
export interface Rows<Row> {
  readonly rows: readonly Row[]
  readonly totalCount: number
}

export interface Shown<Row, Item> {
  readonly view: (row: Row) => Item
  readonly cursorOf: (row: Row) => string
}

/** Builds the envelope of one page. `totalPages` is 0 when nothing matches; a page that is not full is the last. */
export function paged<Row, Item>(
  { rows, totalCount }: Rows<Row>,
  { page, pageSize }: Page,
  { view, cursorOf }: Shown<Row, Item>,
) {
  const first = rows[0]
  const last = rows.length < pageSize ? undefined : rows.at(-1)
  return {
    items: rows.map(view),
    totalCount,
    page,
    pageSize,
    totalPages: Math.ceil(totalCount / pageSize),
    next: last === undefined ? null : cursorOf(last),
    previous: first === undefined ? null : cursorOf(first),
  }
}
