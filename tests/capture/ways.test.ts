import { describe, expect, test } from 'bun:test'
import { captureBatches } from '@creel/core/capture'
import fc from 'fast-check'
import { sql } from 'kysely'
import { z } from 'zod'
import { expectCountersEqualRows } from '../retention/support.ts'
import type { TestEndpoint } from '../support/client.ts'
import { startService } from '../support/service.ts'

const CAP = 5
const RATE = 60

const service = await startService({
  parts: ['gateway'],
  limits: { storedRequestsMax: CAP, captureRatePerMinute: RATE, endpointsMax: 1_000, watchdogsMax: 100 },
})
const { alice, db, clock } = service

const Page = z.looseObject({
  totalCount: z.int(),
  items: z.array(z.looseObject({ id: z.int(), bodyPreview: z.string().nullable() })),
})

/** Number of batches stored in each way while `work` ran. */
async function waysOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const counts = async () => {
    const { values } = await captureBatches.get()
    return new Map(values.map(({ labels, value }) => [String(labels.way), value]))
  }
  const before = await counts()
  await work()
  const after = await counts()
  return Object.fromEntries([...after].map(([way, count]) => [way, count - (before.get(way) ?? 0)]))
}

const send = async (endpoint: TestEndpoint, body: string) =>
  (await endpoint.send({ method: 'POST', body })).status

async function sendAll(endpoint: TestEndpoint, bodies: readonly string[]): Promise<void> {
  for (const body of bodies) expect(await send(endpoint, body)).toBe(200)
}

const listed = (endpoint: TestEndpoint) => alice.expect(alice.get(endpoint.at('/requests')), Page)
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => String(from + n))

describe('each way of storing a batch', () => {
  test('plain: below the cap, and watchdogs hear of the last match', async () => {
    const endpoint = await alice.endpoint()
    const watchdog = await alice.expect(
      alice.post('/api/v1/watchdogs', { endpointId: endpoint.id, expectedIntervalSeconds: 3600 }),
      z.looseObject({ id: z.string() }),
    )
    const ways = await waysOf(() => sendAll(endpoint, numbers(1, 4)))
    expect(ways).toEqual({ plain: 4, evicting: 0, general: 0 })
    const { items } = await listed(endpoint)
    expect(items.map(({ bodyPreview }) => bodyPreview)).toEqual(['4', '3', '2', '1'])
    const matched = await alice.expect(
      alice.get(`/api/v1/watchdogs/${watchdog.id}`),
      z.looseObject({ lastMatchedRequestId: z.int() }),
    )
    expect(matched.lastMatchedRequestId).toBe(items[0]?.id ?? 0)
    await expectCountersEqualRows(service, endpoint.id)
  })

  test('evicting: at the cap, and plain again when there is room', async () => {
    const endpoint = await alice.endpoint()
    await sendAll(endpoint, numbers(1, CAP + 1))
    const ways = await waysOf(() => sendAll(endpoint, numbers(7, 12)))
    expect(ways).toEqual({ plain: 0, evicting: 6, general: 0 })
    expect((await listed(endpoint)).items.map(({ bodyPreview }) => bodyPreview)).toEqual(
      numbers(8, 12).reverse(),
    )
    await expectCountersEqualRows(service, endpoint.id)
    expect((await alice.delete(endpoint.at('/requests'))).status).toBe(200)
    expect(await waysOf(() => sendAll(endpoint, ['13']))).toEqual({ plain: 1, evicting: 0, general: 0 })
    await expectCountersEqualRows(service, endpoint.id)
  })

  test('general: what is still to be delivered is hidden, not evicted', async () => {
    const endpoint = await alice.endpoint()
    const action = await alice.expect(
      alice.post(endpoint.at('/actions'), { kind: 'forward', url: 'http://127.0.0.1:9/' }),
      z.looseObject({ id: z.string() }),
    )
    expect((await waysOf(() => sendAll(endpoint, numbers(1, CAP)))).plain).toBe(CAP)
    expect((await alice.put(endpoint.at(`/actions/${action.id}`), { isActive: false })).status).toBe(200)
    const ways = await waysOf(() => sendAll(endpoint, ['6', '7']))
    expect(ways.general).toBeGreaterThan(0)
    const { items, totalCount } = await listed(endpoint)
    expect(items.map(({ bodyPreview }) => bodyPreview)).toEqual(numbers(3, 7).reverse())
    expect(totalCount).toBe(CAP)
    const { rows } = await sql<{ kept: number }>`
      select count(*)::int as kept from requests where endpoint_id = ${endpoint.id}`.execute(db)
    expect(rows[0]?.kept).toBe(CAP + 2)
    await expectCountersEqualRows(service, endpoint.id)
  })

  test('general: exactly as many as the rate allows, and never one more', async () => {
    const endpoint = await alice.endpoint()
    const statuses: number[] = []
    const ways = await waysOf(async () => {
      const answers = Array.from({ length: RATE + 20 }, (_, n) => send(endpoint, String(n)))
      statuses.push(...(await Promise.all(answers)))
    })
    expect(ways.general).toBeGreaterThan(0)
    expect(statuses.filter((status) => status === 200).length).toBe(RATE)
    expect(statuses.filter((status) => status === 429).length).toBe(20)
    await expectCountersEqualRows(service, endpoint.id)
  })

  test('general: a capture under settings that have changed is evaluated again', async () => {
    const endpoint = await alice.endpoint()
    await sendAll(endpoint, ['before'])
    expect((await alice.patch(endpoint.at(''), { responseStatusCode: 202 })).status).toBe(200)
    const ways = await waysOf(async () => expect(await send(endpoint, 'after')).toBe(202))
    expect(ways).toEqual({ plain: 1, evicting: 0, general: 1 })
  })

  test('an endpoint that has expired or is switched off takes nothing by any of them', async () => {
    const endpoint = await alice.endpoint({ ttlSeconds: 60 })
    const off = await alice.endpoint()
    await Promise.all([sendAll(endpoint, ['1']), sendAll(off, ['1'])])
    expect((await alice.patch(off.at(''), { isActive: false })).status).toBe(200)
    await clock.advance(61_000)
    expect(await Promise.all([send(endpoint, '2'), send(off, '2')])).toEqual([404, 404])
    await expectCountersEqualRows(service, endpoint.id)
  })
})

test('whatever way each batch takes, counters equal rows, ids rise, and no more is kept than may be', async () => {
  const bursts = fc.array(
    fc.record({
      endpoint: fc.nat({ max: 2 }),
      captures: fc.integer({ min: 1, max: 9 }),
      isMoved: fc.boolean(),
    }),
    { minLength: 4, maxLength: 12 },
  )
  await fc.assert(
    fc.asyncProperty(bursts, async (steps) => {
      const endpoints = await Promise.all([alice.endpoint(), alice.endpoint(), alice.endpoint()])
      const acknowledged = new Map<string, number>()
      for (const step of steps) {
        const endpoint = endpoints[step.endpoint]
        if (endpoint === undefined) continue
        const others = endpoints.map((other) => send(other, 'beside'))
        const sent = Array.from({ length: step.captures }, (_, n) => send(endpoint, String(n)))
        const change = step.isMoved
          ? alice.patch(endpoint.at(''), { name: `moved ${step.captures}` })
          : undefined
        const statuses = await Promise.all([...sent, ...others])
        await change
        expect(statuses.every((status) => status === 200 || status === 429)).toBe(true)
        const count = (id: string, more: number) => acknowledged.set(id, (acknowledged.get(id) ?? 0) + more)
        for (const [index, { id }] of endpoints.entries()) {
          if (statuses[step.captures + index] === 200) count(id, 1)
        }
        count(endpoint.id, statuses.slice(0, step.captures).filter((status) => status === 200).length)
      }
      for (const { id } of endpoints) {
        await expectCountersEqualRows(service, id)
        const { rows } = await sql<{ stored: number; total: number }>`
          select stored_request_count as stored, stored_request_count + evicted_count as total
          from endpoint_counters where endpoint_id = ${id}`.execute(db)
        expect(rows[0]?.stored).toBeLessThanOrEqual(CAP)
        expect(rows[0]?.total).toBe(acknowledged.get(id) ?? 0)
      }
    }),
    { numRuns: 5 },
  )
})
