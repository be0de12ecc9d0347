import { expect, test } from 'bun:test'
import { z } from 'zod'
import { ApiClient } from '../../clients/terminal/src/api/apiClient.ts'
import { pagesOf } from '../../clients/terminal/src/api/requests.ts'
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

test.each([true, false])('commands walk on to the end (cursors: %p)', async (cursors) => {
  await using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const query = new URL(request.url).searchParams
      const [page, before] = [query.get('page'), query.get('before')]
      const from = { page: Number(page ?? 1), ...(before === null ? {} : { before: Number(before) }) }
      const found = searched(cursors, from)
      return Response.json({ ...found, items: found.items.map((id) => ({ id })) })
    },
  })
  const api = new ApiClient({
    url: server.url.origin,
    key: 'creel_live_x',
    urlSource: '--url',
    keySource: '--key',
  })
  const ids = []
  for await (const { id } of pagesOf(api, '/list', z.object({ id: z.int() }))) ids.push(id)
  expect(ids).toEqual(STORED)
})
