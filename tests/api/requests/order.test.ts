import { beforeAll, describe, expect, test } from 'bun:test'
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
})
