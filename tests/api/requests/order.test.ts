import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { scanRequests, THOROUGH } from '../../../core/src/requests/scan.ts'
import type { TestEndpoint } from '../../support/client.ts'
import { wrongParts } from '../../support/problems.ts'
import { startService, type TestService } from '../../support/service.ts'

const Page = z.object({
  items: z.array(z.looseObject({ id: z.int() })),
  totalCount: z.int(),
  next: z.string().nullable(),
  previous: z.string().nullable(),
  search: z.looseObject({ lookedThrough: z.int(), totalCount: z.int().nullable() }).nullable(),
})

let service: TestService
let endpoint: TestEndpoint
let ids: readonly number[]

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 1_000_000 }, parts: ['gateway'] })
  endpoint = await service.alice.endpoint()
  ids = (await endpoint.captureMany(12, { body: 'some text' })).map(({ id }) => id)
})

const pageOf = async (query: string) => {
  const page = await service.alice.expect(service.alice.get(endpoint.at(`/requests?${query}`)), Page)
  return { ...page, ids: page.items.map(({ id }) => id) }
}

describe('order=asc', () => {
  test('a follower that goes on after the largest id of each page sees every request once', async () => {
    const seen: number[] = []
    for (let afterId = 0; ; afterId = Math.max(...seen)) {
      const page = await pageOf(`afterId=${afterId}&order=asc&pageSize=5`)
      if (page.ids.length === 0) break
      seen.push(...page.ids)
    }
    expect(seen).toEqual([...ids])
  })

  test.each(['', 'q=text&', 'method=post&', 'afterId=0&'])(
    'its cursors walk the list of %p',
    async (filters) => {
      const first = await pageOf(`${filters}order=asc&pageSize=5`)
      const second = await pageOf(`${filters}order=asc&pageSize=5&before=${first.next}`)
      const third = await pageOf(`${filters}order=asc&pageSize=5&before=${second.next}`)
      expect([...first.ids, ...second.ids, ...third.ids]).toEqual([...ids])
      expect([first.totalCount, third.next]).toEqual([12, null])
      const preceding = await pageOf(`${filters}order=asc&after=${second.previous}`)
      expect(preceding.ids).toEqual(first.ids)
    },
  )

  test('its pages have numbers, and other bounds still hold', async () => {
    expect((await pageOf('order=asc&pageSize=5&page=3')).ids).toEqual(ids.slice(10))
    const range = `afterId=${ids[2]}&beforeId=${ids[9]}&order=asc`
    expect(await pageOf(range)).toMatchObject({ ids: ids.slice(3, 9), totalCount: 6 })
    expect((await pageOf('order=desc&pageSize=2')).ids).toEqual(ids.slice(10).toReversed())
  })

  test('a search in steps goes on where it ended', async () => {
    const pace = { ...THOROUGH, budgetMs: 0, firstRows: 8, firstBytes: 9 * 8 }
    const wanted = { order: 'asc', filters: { q: 'text' }, skip: 0, take: 100, countsAll: true } as const
    const { searches } = service.running.services
    const first = await scanRequests(searches, endpoint.id, wanted, {}, pace)
    expect(first).toMatchObject({ ids: ids.slice(0, 8), lookedTo: ids[7] })
    const rest = { ...wanted, filters: { q: 'text', afterId: first.lookedTo ?? 0 } }
    expect(await scanRequests(searches, endpoint.id, rest, {}, pace)).toMatchObject({
      ids: ids.slice(8),
      lookedTo: null,
    })
  })

  test('is one of two words', async () => {
    const answer = await service.alice.get(endpoint.at('/requests?order=newest'))
    expect(wrongParts(answer)).toEqual(['?order unknown_value'])
  })

  test('a page of a follower costs the same however much follows, with the exact total where it is cheap', async () => {
    const STORED = 60_000
    const large = await service.alice.endpoint()
    await sql`
      insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, body, size_bytes,
                            body_truncated, body_is_binary, body_preview, dispatch_state)
      select ${large.id}::uuid, n, now(), 'POST', '', '', '', 'x', 1, false, false, '', 'NotAttempted'
      from generate_series(1, ${STORED}::int) n`.execute(service.db)
    await sql`
      update endpoint_counters set stored_request_count = ${STORED}::int, oldest_request_id = 1
      where endpoint_id = ${large.id}::uuid`.execute(service.db)
    const read = async (query: string) => {
      const list = service.alice.get(large.at(`/requests?order=asc&pageSize=100&${query}`))
      return await service.alice.expect(list, Page)
    }
    const total = async (query: string) => {
      const { totalCount, search } = await read(query)
      return [totalCount, search?.totalCount]
    }
    const middle = await read('afterId=30000')
    expect(middle.items.map(({ id }) => id)).toEqual(
      Array.from({ length: 100 }, (_, index) => 30_001 + index),
    )
    expect(middle.search).toMatchObject({ lookedThrough: 100, totalCount: null })
    expect(middle.totalCount).toBeWithin(29_000, 31_000)
    expect(await total('')).toEqual([STORED, STORED])
    expect(await total('afterId=0')).toEqual([STORED, STORED])
    expect(await total('afterId=9000')).toEqual([51_000, 51_000])
    expect(await total('afterId=52000')).toEqual([8_000, 8_000])
    expect(await total('afterId=4000&beforeId=57001')).toEqual([53_000, 53_000])
    // Requests in the recycle bin are not counted.
    await sql`
      update requests set deleted_at = now() where endpoint_id = ${large.id}::uuid and id between 101 and 200`.execute(
      service.db,
    )
    await sql`
      update endpoint_counters set stored_request_count = stored_request_count - 100, binned_request_count = 100
      where endpoint_id = ${large.id}::uuid`.execute(service.db)
    expect(await total('afterId=50')).toEqual([STORED - 150, STORED - 150])
    expect(await total('beforeId=1000')).toEqual([899, 899])
  })
})
