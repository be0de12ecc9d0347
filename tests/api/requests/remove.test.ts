import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { boundRows } from '../../support/database.ts'
import { wrongParts } from '../../support/problems.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
})

const countOf = async (endpoint: { at(path: string): string }) =>
  Object((await service.alice.get(endpoint.at(''))).body).storedRequestCount

describe('DELETE /api/v1/endpoints/{endpointId}/requests/{requestId}', () => {
  test('hides the request everywhere, once', async () => {
    const endpoint = await service.alice.endpoint()
    const [kept, gone] = await endpoint.captureMany(2)
    const path = endpoint.at(`/requests/${gone?.id}`)
    expect((await service.alice.delete(path)).status).toBe(204)
    expect((await service.alice.get(path)).status).toBe(404)
    expect((await service.alice.delete(path)).status).toBe(404)
    expect((await endpoint.requests()).map(({ id }) => id)).toEqual([kept?.id ?? 0])
    expect(await countOf(endpoint)).toBe(1)
  })
})

describe('POST /api/v1/endpoints/{endpointId}/requests/bulk-delete', () => {
  test('counts how many moved: ids that are absent, elsewhere or named twice are not', async () => {
    const endpoint = await service.alice.endpoint()
    const other = await service.alice.endpoint()
    const [one, two, three] = await endpoint.captureMany(3)
    const elsewhere = await other.capture()
    const requestIds = [one?.id, one?.id, three?.id, elsewhere.id, 8_999_999_999]
    const answer = await service.alice.post(endpoint.at('/requests/bulk-delete'), { requestIds })
    expect(answer).toMatchObject({ status: 200, body: { deletedCount: 2 } })
    expect((await endpoint.requests()).map(({ id }) => id)).toEqual([two?.id ?? 0])
    expect((await other.requests()).length).toBe(1)
  })

  const many = (count: number) => Array.from({ length: count }, (_, at) => at + 1_000_000)

  test.each<[string, unknown, readonly string[]]>([
    ['none', [], ['#/requestIds too_short']],
    ['501', many(501), ['#/requestIds too_many']],
    ['text', ['1'], ['#/requestIds/0 type']],
    ['a fraction', [1, 2.5], ['#/requestIds/1 type']],
    ['no list', 7, ['#/requestIds type']],
    ['nothing', undefined, ['#/requestIds required']],
  ])('%s: 400', async (_, requestIds, parts) => {
    const endpoint = await service.alice.endpoint()
    const answer = await service.alice.post(endpoint.at('/requests/bulk-delete'), { requestIds })
    expect(wrongParts(answer)).toEqual([...parts])
  })

  test('`ids` is another name of the list; both at once are refused', async () => {
    const endpoint = await service.alice.endpoint()
    const { id } = await endpoint.capture()
    const bulkDelete = (body: object) => service.alice.post(endpoint.at('/requests/bulk-delete'), body)
    expect(wrongParts(await bulkDelete({ ids: [id], requestIds: [id] }))).toEqual(['#/ids not_allowed'])
    expect(wrongParts(await bulkDelete({ ids: ['1'] }))).toEqual(['#/ids/0 type'])
    expect(wrongParts(await bulkDelete({ ids: 7 }))).toEqual(['#/ids type'])
    expect(wrongParts(await bulkDelete({ ids: null, requestIds: null }))).toEqual(['#/requestIds required'])
    expect((await bulkDelete({ ids: [id] })).body).toEqual({ deletedCount: 1 })
    const restored = await service.alice.post('/api/v1/recycle-bin/restore', { ids: [id] })
    expect(restored.body).toEqual({ restoredCount: 1, skippedAtCap: 0 })
    expect(wrongParts(await service.alice.post('/api/v1/recycle-bin/restore', {}))).toEqual([
      '#/requestIds required',
    ])
  })

  test('takes 500', async () => {
    const endpoint = await service.alice.endpoint()
    const answer = await service.alice.post(endpoint.at('/requests/bulk-delete'), { requestIds: many(500) })
    expect(answer).toMatchObject({ status: 200, body: { deletedCount: 0 } })
  })
})

describe('DELETE /api/v1/endpoints/{endpointId}/requests', () => {
  test.each([
    ['method=GET', ['?method not_allowed']],
    ['afterId=1', ['?afterId not_allowed']],
    ['q=', ['?q not_allowed']],
    ['state=Failed&since=x&label=a', ['?state not_allowed', '?since not_allowed', '?label not_allowed']],
    ['until=2026-11-21&verification=none', ['?until not_allowed', '?verification not_allowed']],
    ['beforeId=1&before=2&after=3', ['?beforeId not_allowed', '?before not_allowed', '?after not_allowed']],
  ])('takes no filter: ?%s is refused, and nothing moves', async (query, parts) => {
    const endpoint = await service.alice.endpoint()
    await endpoint.capture()
    expect(wrongParts(await service.alice.delete(endpoint.at(`/requests?${query}`)))).toEqual(parts)
    expect((await endpoint.requests()).length).toBe(1)
  })

  test('moves every stored request, and only those of the endpoint', async () => {
    const endpoint = await service.alice.endpoint()
    const other = await service.alice.endpoint()
    await endpoint.captureMany(3)
    await other.capture()
    expect(await service.alice.delete(endpoint.at('/requests'))).toMatchObject({
      status: 200,
      body: { deletedCount: 3 },
    })
    expect(await service.alice.delete(endpoint.at('/requests'))).toMatchObject({ body: { deletedCount: 0 } })
    expect(await countOf(endpoint)).toBe(0)
    expect(await countOf(other)).toBe(1)
  })

  test('moves many in transactions of at most a thousand, so that captures wait for none of them long', async () => {
    const { alice, db } = service
    const endpoint = await alice.endpoint()
    await sql`
      insert into requests (endpoint_id, received_at, method, path, header_names, header_values, size_bytes, body,
        body_truncated, body_is_binary, dispatch_state)
      select ${endpoint.id}::uuid, now(), 'POST', '', '', '', 1, 'x', false, false, 'NotAttempted'
      from generate_series(1, 2500)`.execute(db)
    await sql`
      update endpoint_counters set stored_request_count = 2500, stored_bytes = 2500, storage_bytes = 2500 * 1025
      where endpoint_id = ${endpoint.id}`.execute(db)
    await using _ = await boundRows(db, { table: 'requests', change: 'update', most: 1000 })
    const answer = await alice.delete(endpoint.at('/requests'))
    expect(answer).toMatchObject({ status: 200, body: { deletedCount: 2500 } })
    expect(await countOf(endpoint)).toBe(0)
  })
})

describe('GET /api/v1/endpoints/{endpointId}/stats', () => {
  test('adds up storage, traffic and retention', async () => {
    const { alice, clock } = await startService({ limits: { storedRequestsMax: 3, captureRatePerMinute: 5 } })
    const endpoint = await alice.endpoint()
    const captured: Awaited<ReturnType<typeof endpoint.capture>>[] = []
    for (let n = 0; n < 5; n += 1) captured.push(await endpoint.capture({ body: '12345' }))
    expect((await endpoint.send()).status).toBe(429)
    await alice.delete(endpoint.at(`/requests/${captured.at(-1)?.id}`))
    expect((await alice.get(endpoint.at('/stats'))).body).toEqual({
      endpointId: endpoint.id,
      storage: {
        storedRequestCount: 2,
        storedRequestsMax: 3,
        storedBytes: 10,
        binnedRequestCount: 1,
        evictedCount: 2,
        oldestRequestAt: captured[2]?.receivedAt,
      },
      traffic: {
        lastRequestAt: captured.at(-1)?.receivedAt,
        requestsLastHourCount: 2,
        requestsLastDayCount: 2,
        rejectedCount: 1,
        lastRejectedAt: expect.any(String),
        refusedCount: 0,
        lastRefusedAt: null,
        discardedCount: 0,
        lastDiscardedAt: null,
        lastRefusal: null,
      },
      retention: { retentionDays: 90, expiresAt: null },
      backlog: {
        pendingCount: 0,
        retryingCount: 0,
        parkedCount: 0,
        oldestPendingAt: null,
        nextAttemptAt: null,
      },
    })
    await clock.advance(3_600_000)
    expect((await alice.get(endpoint.at('/stats'))).body).toMatchObject({
      traffic: { requestsLastHourCount: 0, requestsLastDayCount: 2 },
    })
  })

  test('of an endpoint that never captured is zero and null', async () => {
    const endpoint = await service.alice.endpoint({ ttlSeconds: 600 })
    const { expiresAt } = Object((await service.alice.get(endpoint.at(''))).body)
    expect((await service.alice.get(endpoint.at('/stats'))).body).toMatchObject({
      storage: { storedRequestCount: 0, storedBytes: 0, oldestRequestAt: null },
      traffic: { lastRequestAt: null, requestsLastDayCount: 0, rejectedCount: 0, lastRejectedAt: null },
      retention: { expiresAt },
    })
  })
})
