import { beforeAll, describe, expect, test } from 'bun:test'
import { STREAMS } from '@creel/core'
import { z } from 'zod'
import { attemptsEnded } from '../support/attempts.ts'
import type { TestEndpoint } from '../support/client.ts'
import { anHourAgo } from '../support/clock.ts'
import { type EventReader, openEvents, type SeenEvent } from '../support/eventReader.ts'
import { eventually } from '../support/eventually.ts'
import { wrongParts } from '../support/problems.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000, captureRatePerMinute: 100_000 } })
})

const Arrived = z.object({ requests: z.array(z.looseObject({ id: z.int() })) })
const Changed = z.object({
  states: z.array(
    z.strictObject({
      id: z.int(),
      state: z.string(),
      attemptCount: z.int(),
      deliveryCounts: z.record(z.string(), z.int()),
    }),
  ),
})

/** The ids of `arrived` events, in the order of the stream. */
const arrivedIn = (seen: readonly SeenEvent[]) =>
  seen.flatMap(({ event, data }) =>
    event === 'arrived' ? Arrived.parse(data).requests.map(({ id }) => id) : [],
  )

const statesIn = (seen: readonly SeenEvent[]) =>
  seen.flatMap(({ event, data }) => (event === 'changed' ? Changed.parse(data).states : []))

describe('GET /api/v1/endpoints/{endpointId}/requests/stream', () => {
  test('begins now, and sends what arrives as the list shows it', async () => {
    const endpoint = await service.alice.endpoint()
    await endpoint.capture()
    await using stream = await openEvents(service.alice, endpoint.at('/requests/stream'))
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
    expect(stream.response.headers.get('cache-control')).toBe('no-store')
    const captured = await endpoint.capture({ body: '{"type":"order.paid"}', suffix: '/eu?a=1' })
    const event = await stream.next()
    expect(event).toEqual({
      id: String(captured.id),
      event: 'arrived',
      data: { requests: (await endpoint.requests('pageSize=1')) as unknown },
    })
  })

  test.each([
    ['Last-Event-ID', (id: number) => ({ query: '', headers: { 'Last-Event-ID': String(id) } })],
    ['lastEventId', (id: number) => ({ query: `?lastEventId=${id}`, headers: {} })],
    ['afterId', (id: number) => ({ query: `?afterId=${id}`, headers: {} })],
  ])('goes on after %s, oldest first', async (_, resume) => {
    const endpoint = await service.alice.endpoint()
    const [first, ...missed] = await endpoint.captureMany(3)
    const { query, headers } = resume(first?.id ?? 0)
    await using stream = await openEvents(service.alice, endpoint.at(`/requests/stream${query}`), headers)
    const seen = await stream.until((events) => arrivedIn(events).length >= 2)
    expect(arrivedIn(seen)).toEqual(missed.map(({ id }) => id))
  })

  test('passes over what does not match, and its ids say how far it has looked', async () => {
    const endpoint = await service.alice.endpoint()
    const [before] = await endpoint.captureMany(1)
    await endpoint.capture({ body: '{"type":"other"}' })
    const wanted = await endpoint.capture({ body: '{"type":"wanted"}' })
    const last = await endpoint.capture({ body: '{"type":"other"}' })
    const path = endpoint.at(`/requests/stream?label=wanted&method=post&afterId=${before?.id}`)
    await using stream = await openEvents(service.alice, path)
    expect(await stream.next()).toMatchObject({
      id: String(last.id),
      event: 'arrived',
      data: { requests: [{ id: wanted.id, label: 'wanted' }] },
    })
    expect(await stream.next()).toMatchObject({ id: String(last.id), event: 'passed', data: { count: 2 } })
  })

  test('counts among what does not match nothing that was deleted', async () => {
    const endpoint = await service.alice.endpoint()
    const [before] = await endpoint.captureMany(1)
    const deleted = await endpoint.capture({ body: '{"type":"other"}' })
    await service.alice.delete(endpoint.at(`/requests/${deleted.id}`))
    const path = endpoint.at(`/requests/stream?label=wanted&afterId=${before?.id}`)
    await using stream = await openEvents(service.alice, path)
    const wanted = await endpoint.capture({ body: '{"type":"wanted"}' })
    const other = await endpoint.capture({ body: '{"type":"other"}' })
    const seen = await stream.until((events) => events.some(({ event }) => event === 'passed'))
    expect(arrivedIn(seen)).toEqual([wanted.id])
    expect(seen.at(-1)).toMatchObject({ id: String(other.id), event: 'passed', data: { count: 1 } })
  })

  test('says what becomes of deliveries, also of requests from before', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url, forwardingEnabled: true })
    const old = await endpoint.capture()
    await using stream = await openEvents(service.alice, endpoint.at('/requests/stream'))
    await service.alice.post(endpoint.at(`/requests/${old.id}/replay`))
    const { id } = await endpoint.capture()
    const seen = await stream.until((events) => {
      const done = [...statesIn(events), ...rowsIn(events)].filter(({ state }) => state === 'Succeeded')
      return (
        done.some((one) => one.id === id) && done.some((one) => one.id === old.id && one.attemptCount === 2)
      )
    })
    expect(arrivedIn(seen)).toEqual([id])
    for (const { id: eventId } of seen) expect(Number(eventId)).toBeGreaterThanOrEqual(old.id)
  })

  test('tells who comes back what moved meanwhile', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url, forwardingEnabled: true })
    const { id } = await endpoint.capture()
    await attemptsEnded(service, endpoint)
    await service.alice.post(endpoint.at(`/requests/${id}/replay`))
    await using stream = await openEvents(service.alice, endpoint.at('/requests/stream'), {
      'Last-Event-ID': String(id),
    })
    expect(statesIn(await stream.until((events) => events.length > 0))).toMatchObject([
      { id, state: 'Succeeded' },
    ])
  })

  test('sends who is more than 1,000 behind to the pages, and goes on after them', async () => {
    const endpoint = await service.alice.endpoint()
    const begin = await endpoint.capture()
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 101 }, async () => (await endpoint.send()).body?.cancel()))
    }
    const [newest] = await endpoint.requests('pageSize=1')
    await using stream = await openEvents(service.alice, endpoint.at(`/requests/stream?afterId=${begin.id}`))
    expect(await stream.next()).toEqual({
      id: String(newest?.id),
      event: 'behind',
      data: { lastId: newest?.id },
    })
    await using page = await openEvents(
      service.alice,
      endpoint.at(`/requests/stream?afterId=${begin.id}&newest=true`),
    )
    const newestHundred = (await endpoint.requests('pageSize=100')).map(({ id }) => id)
    const data = (await page.next())?.data
    expect(data).toMatchObject({ lastId: newest?.id, totalCount: 1011 })
    expect(Arrived.parse(data).requests.map(({ id }) => id)).toEqual(newestHundred.toReversed())
    const { id } = await endpoint.capture()
    for (const follower of [stream, page])
      expect(arrivedIn(await follower.until((events) => arrivedIn(events).length > 0))).toEqual([id])
  })

  test('sends every event that it declares, as it declares it', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url, forwardingEnabled: true })
    const { id } = await endpoint.capture()
    const replays = `/requests/${id}/replay`
    const stored = JSON.stringify({
      receivedAt: anHourAgo(),
      method: 'POST',
      body: '{}',
    })
    const many = await service.alice.endpoint()
    const rawBody = Array.from({ length: 1100 }, () => stored).join('\n')
    await many.importLines(rawBody)
    const ways: Readonly<Record<string, { path: string; ask?: () => Promise<unknown> }>> = {
      arrived: { path: endpoint.at('/requests/stream?afterId=0') },
      captured: { path: endpoint.at('/requests/stream?afterId=0&whole=true') },
      passed: { path: endpoint.at('/requests/stream?afterId=0&label=other') },
      changed: {
        path: endpoint.at('/requests/stream'),
        ask: () => service.alice.post(endpoint.at(replays)),
      },
      replay: {
        path: endpoint.at('/requests/stream?listener=ada'),
        ask: () => service.alice.post(endpoint.at(`${replays}?to=listeners`)),
      },
      behind: { path: many.at('/requests/stream?afterId=0&newest=true') },
    }
    const [stream] = STREAMS.filter(({ name }) => name === 'requests.follow')
    expect(Object.keys(ways)).toEqual(Object.keys(stream?.events ?? {}))
    for (const [kind, { path, ask }] of Object.entries(ways)) {
      await using reader = await openEvents(service.alice, path)
      await ask?.()
      await reader.until((seen) => seen.some(({ event }) => event === kind))
    }
  })

  test('a follower misses nothing when another joins', async () => {
    const endpoint = await service.alice.endpoint()
    await using first = await openEvents(service.alice, endpoint.at('/requests/stream'))
    for (let round = 0; round < 10; round += 1) {
      const sending = endpoint.send()
      await using second = await openEvents(service.alice, endpoint.at('/requests/stream?afterId=0'))
      await (await sending).body?.cancel()
      const seen = await first.until((events) => arrivedIn(events).length >= 1)
      const [id] = arrivedIn(seen)
      const known = await second.until((events) => arrivedIn(events).includes(id ?? 0))
      expect(arrivedIn(known)).toHaveLength(round + 1)
    }
  })

  test('refuses before it begins, like every route', async () => {
    const { alice, bob, charlie } = service
    const endpoint = await alice.endpoint()
    const path = endpoint.at('/requests/stream')
    expect(await bob.get(path)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    expect(await charlie.get(path)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    const wrong = await alice.get(`${path}?state=Done&since=now`, { headers: { 'Last-Event-ID': 'x' } })
    expect([...wrongParts(wrong)].sort()).toEqual([
      '?lastEventId bad_format',
      '?since bad_format',
      '?state unknown_value',
    ])
    const head = await alice.call('HEAD', path)
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(head.headers.get('content-type')).toBe('text/event-stream')
  })

  test('a key holds 8 at once', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    const path = endpoint.at('/requests/stream')
    const open = await Promise.all(Array.from({ length: 8 }, () => openEvents(client, path)))
    const refused = await client.get(path)
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61)
    await Promise.all(open.map((stream) => stream[Symbol.asyncDispose]()))
  })

  test('one that is closed, or was only asked for its head, makes room for another', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    const path = endpoint.at('/requests/stream')
    await client.call('HEAD', path)
    const open = await Promise.all(Array.from({ length: 7 }, () => openEvents(client, path)))
    await open[0]?.[Symbol.asyncDispose]()
    const [key] = await service.operator.keys.list({ workspace: client.workspaceId })
    const held = () =>
      service.db.selectFrom('concurrencySlots').where('scope', '=', `stream:${key?.id}`).selectAll().execute()
    await eventually('six streams', async () => (await held()).length === 6)
    await Promise.all(open.map((stream) => stream[Symbol.asyncDispose]()))
  })

  test('ends when its endpoint is deleted; who comes back is told', async () => {
    const endpoint = await service.alice.endpoint()
    await using stream = await openEvents(service.alice, endpoint.at('/requests/stream'))
    await service.alice.delete(endpoint.at(''))
    expect(await stream.next()).toBeUndefined()
    expect(await service.alice.get(endpoint.at('/requests/stream'))).toMatchObject({ status: 404 })
  })

  test.each([
    ['that the service ends', (endpoint: TestEndpoint) => service.alice.delete(endpoint.at(''))],
    ['that the client closes', (_: TestEndpoint, stream: EventReader) => stream[Symbol.asyncDispose]()],
  ])('a listener %s counts as connected no more', async (_, end) => {
    const { alice } = service
    const endpoint = await alice.endpoint()
    const { id } = await endpoint.capture()
    await using stream = await openEvents(alice, endpoint.at('/requests/stream?listener=laptop'))
    const replay = () => alice.post(endpoint.at(`/requests/${id}/replay?to=listeners`))
    expect(await replay()).toMatchObject({ body: { state: 'Pending', listenerCount: 1 } })
    await end(endpoint, stream)
    const held = () =>
      service.db
        .selectFrom('concurrencySlots')
        .where('scope', '=', `listener:${endpoint.id}`)
        .selectAll()
        .execute()
    await eventually('no listener', async () => (await held()).length === 0)
  })

  test('ends when the service stops, at once; nothing that came meanwhile is missed', async () => {
    const stopping = await startService()
    const endpoint = await stopping.alice.endpoint()
    const stream = await openEvents(stopping.alice, endpoint.at('/requests/stream'))
    const startedAt = performance.now()
    const stopped = stopping.stop()
    expect(await stream.next()).toBeUndefined()
    await stopped
    // A stream that did not end would be waited for, 20 s.
    expect(performance.now() - startedAt).toBeLessThan(18_000)
  })
})

const rowsIn = (seen: readonly SeenEvent[]) =>
  seen.flatMap(({ event, data }) =>
    event === 'arrived'
      ? z
          .object({
            requests: z.array(z.looseObject({ id: z.int(), state: z.string(), attemptCount: z.int() })),
          })
          .parse(data).requests
      : [],
  )
