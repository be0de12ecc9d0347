import { expect, test } from 'bun:test'
import { type From, itemsByIdOf } from '../../clients/typescript/src/paging.ts'

/** Paging through a list whose search the service ends before it has found anything. */

const STORED = [9, 7, 4, 2]

/** A search that examines three ids a call and returns at most two. `cursors`: like services since 0.2.0. */
function searched(cursors: boolean, from: { readonly page?: number; readonly before?: number }) {
  const envelope = { totalCount: STORED.length, page: from.page ?? 1, pageSize: 2 }
  if (!cursors) {
    const at = ((from.page ?? 1) - 1) * 2
    return { ...envelope, items: STORED.slice(at, at + 2), totalPages: 2 }
  }
  const below = from.before ?? 13
  const items = STORED.filter((id) => id < below && id >= below - 3)
  return { ...envelope, items, totalPages: 0, next: below <= 3 ? null : String(below - 3) }
}

test.each([true, false])('the client walks on to the end (cursors: %p)', async (cursors) => {
  const read = (from: From) => {
    const page = searched(cursors, 'before' in from ? { before: Number(from.before) } : from)
    return Promise.resolve({ ...page, items: page.items.map((id) => ({ id })) })
  }
  const ids = []
  for await (const { id } of itemsByIdOf(read)) ids.push(id)
  expect(ids).toEqual(STORED)
})

test('a list in ascending order yields each item once, too', async () => {
  const pages = [[2, 4, 7], [7, 9], []]
  const read = (from: From) => {
    const at = 'before' in from ? Number(from.before) : 0
    const items = (pages[at] ?? []).map((id) => ({ id }))
    const next = at + 1 < pages.length ? String(at + 1) : null
    return Promise.resolve({ items, totalCount: 5, page: 1, pageSize: 3, totalPages: 2, next })
  }
  expect((await Array.fromAsync(itemsByIdOf(read, 'asc'))).map(({ id }) => id)).toEqual([2, 4, 7, 9])
})
