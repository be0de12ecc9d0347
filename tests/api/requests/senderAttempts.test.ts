import { beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import type { TestEndpoint } from '../../support/client.ts'
import { openEvents } from '../../support/eventReader.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Attempts of a sender: how many times it has sent an event, and which request was the first. */

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
})

const event = (id: string, more: object = {}) => ({ body: JSON.stringify({ id, ...more }) })

/** Newest first: the number of the attempt, and the index of the first request in `captured`. */
async function timesOf(endpoint: TestEndpoint, captured: readonly { readonly id: number }[], query = '') {
  const rows = await endpoint.requests(query)
  return rows.map(({ senderAttempt, firstRequestId }) => [
    senderAttempt,
    firstRequestId === null ? null : captured.findIndex(({ id }) => id === firstRequestId),
  ])
}

test('each time counts, by the id and on its own endpoint only', async () => {
  const endpoint = await service.alice.endpoint({ provider: 'stripe' })
  const elsewhere = await service.alice.endpoint({ provider: 'stripe' })
  await elsewhere.capture(event('evt_1'))
  const captured = []
  for (const sent of [
    event('evt_1'),
    event('evt_2'),
    event('evt_1'),
    { body: 'none' },
    event('evt_1', { x: 1 }),
  ])
    captured.push(await endpoint.capture(sent))
  const times = [
    [3, 0],
    [null, null],
    [2, 0],
    [1, null],
    [1, null],
  ]
  expect(await timesOf(endpoint, captured)).toEqual(times)
  // With filters another statement reads the list.
  expect(await timesOf(endpoint, captured, 'method=POST')).toEqual(times)
  const { body } = await service.alice.get(endpoint.at(`/requests/${captured[4]?.id}`))
  expect(body).toMatchObject({ senderAttempt: 3, firstRequestId: captured[0]?.id })
})

test('a stream says it of what arrives', async () => {
  const endpoint = await service.alice.endpoint({ provider: 'stripe' })
  const first = await endpoint.capture(event('evt_1'))
  await using stream = await openEvents(service.alice, endpoint.at(`/requests/stream?afterId=${first.id}`))
  await using whole = await openEvents(
    service.alice,
    endpoint.at(`/requests/stream?whole=true&afterId=${first.id}`),
  )
  await endpoint.capture(event('evt_1'))
  const again = { data: { requests: [{ eventId: 'evt_1', senderAttempt: 2, firstRequestId: first.id }] } }
  expect(await stream.next()).toMatchObject({ event: 'arrived', ...again })
  expect(await whole.next()).toMatchObject({ event: 'captured', ...again })
})

test('requests that were deleted do not count until they are restored, and imports never do', async () => {
  const { alice } = service
  const endpoint = await alice.endpoint({ provider: 'stripe' })
  const captured = []
  for (let time = 1; time <= 3; time += 1) captured.push(await endpoint.capture(event('evt_1')))
  const { text } = await alice.get(endpoint.at('/requests/export'))
  await alice.delete(endpoint.at(`/requests/${captured[0]?.id}`))
  expect(await timesOf(endpoint, captured)).toEqual([
    [2, 1],
    [1, null],
  ])
  const restored = await alice.post('/api/v1/recycle-bin/restore', { requestIds: [captured[0]?.id] })
  expect(restored.status).toBe(200)
  const imported = await endpoint.importLines(text)
  expect(imported.status).toBe(200)
  captured.push(await endpoint.capture(event('evt_1')))
  expect(await timesOf(endpoint, captured)).toEqual([
    [4, 0],
    [null, null],
    [null, null],
    [null, null],
    [3, 0],
    [2, 0],
    [1, null],
  ])
})

test('an id that is sent without end is counted to 100, the first known', async () => {
  const { alice, db } = service
  const endpoint = await alice.endpoint({ provider: 'stripe' })
  const first = await endpoint.capture(event('evt_1'))
  await sql`
    insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, size_bytes, event_id,
      body, body_truncated, body_is_binary, dispatch_state)
    select endpoint_id, nextval('request_ids'), received_at, method, path, header_names, header_values, size_bytes,
      event_id, body, body_truncated, body_is_binary, dispatch_state
    from requests, generate_series(1, 500) where endpoint_id = ${endpoint.id}::uuid and id = ${first.id}::bigint`.execute(
    db,
  )
  await sql`update endpoint_counters set stored_request_count = 501 where endpoint_id = ${endpoint.id}::uuid`.execute(
    db,
  )
  const Page = z.object({
    items: z.array(z.looseObject({ senderAttempt: z.int(), firstRequestId: z.int() })),
  })
  const { items } = await alice.expect(alice.get(endpoint.at('/requests?pageSize=100')), Page)
  expect(new Set(items.map(({ senderAttempt }) => senderAttempt))).toEqual(new Set([100]))
  expect(new Set(items.map(({ firstRequestId }) => firstRequestId))).toEqual(new Set([first.id]))
})
