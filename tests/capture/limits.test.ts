import { beforeAll, describe, expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { z } from 'zod'
import type { TestEndpoint } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startProcess } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService, type TestServiceOptions } from '../support/service.ts'

/** Two gateways on one database, and workspaces on several plans. */
let first: TestService
let second: TestService

const PLANS = {
  rate20: 'solo',
  rate1: 'pro',
  cap3: 'team',
  cap5: 'self-hosted',
} as const

beforeAll(async () => {
  const options = {
    parts: ['gateway'],
    planLimits: {
      [PLANS.rate20]: { captureRatePerMinute: 20, payloadBytesMax: 10 },
      [PLANS.rate1]: { captureRatePerMinute: 1 },
      [PLANS.cap3]: { storedRequestsMax: 3, payloadBytesMax: 100_000 },
      [PLANS.cap5]: { storedRequestsMax: 5, captureRatePerMinute: 100_000 },
    },
  } satisfies TestServiceOptions
  first = await startService(options)
  const { database, clock, secretKey } = first
  second = await startService({ ...options, database, clock, secretKey })
})

/** An endpoint in its own workspace. */
async function endpointOn(
  plan: keyof typeof PLANS,
  members: Readonly<Record<string, unknown>> = {},
): Promise<TestEndpoint> {
  return await (await first.newClient(PLANS[plan])).endpoint(members)
}

/** Sends `count` captures at once, half of them to the other gateway; returns the statuses. */
async function burstAtBoth(endpoint: TestEndpoint, count: number): Promise<number[]> {
  const elsewhere = `${second.captureUrl}/hook/${endpoint.id}`
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      fetch(index % 2 === 0 ? endpoint.url : elsewhere, { method: 'POST', body: '{}' }),
    ),
  )
  return answers.map(({ status }) => status)
}

const Stats = z.looseObject({
  storage: z.looseObject({
    storedRequestCount: z.int(),
    storedBytes: z.int(),
    evictedCount: z.int(),
  }),
  traffic: z.looseObject({ rejectedCount: z.int(), lastRejectedAt: z.string().nullable() }),
})

const statsOf = (endpoint: TestEndpoint) =>
  endpoint.client.expect(endpoint.client.get(endpoint.at('/stats')), Stats)

/** Sends `count` captures at once; returns the statuses, sorted. */
async function burst(endpoint: TestEndpoint, count: number): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: count }, () => endpoint.send()))
  return answers.map(({ status }) => status).sort((a, b) => a - b)
}

describe('over the capture rate', () => {
  test('a sender gets 429 and is counted, and recovers after Retry-After', async () => {
    const endpoint = await endpointOn('rate20')
    const accepted = Array(20).fill(200)
    expect(await burst(endpoint, 22)).toEqual([...accepted, 429, 429])

    await first.clock.advance(20_000)
    const refused = await endpoint.send()
    expect({ status: refused.status, text: await refused.text() }).toEqual({
      status: 429,
      text: '{"error":"rate_limited"}',
    })
    expect(refused.headers.get('x-content-type-options')).toBe('nosniff')
    expect(refused.headers.get('cache-control')).toBe('no-store')
    const retryAfter = Number(refused.headers.get('retry-after'))
    // The clock runs on while the test does.
    expect(retryAfter).toBeGreaterThan(0)
    expect(retryAfter).toBeLessThanOrEqual(40)

    await first.clock.advance(retryAfter * 1000)
    expect(await burst(endpoint, 21)).toEqual([...accepted, 429])
    const { storage, traffic } = await statsOf(endpoint)
    expect({ stored: storage.storedRequestCount, rejected: traffic.rejectedCount }).toEqual({
      stored: 40,
      rejected: 4,
    })
    expect(traffic.lastRejectedAt).not.toBeNull()
  })

  test('the workspace is told at the first refusal, then once an hour with the count', async () => {
    const { clock, db } = first
    const endpoint = await endpointOn('rate1', { name: 'busy' })
    const alerts = () =>
      db
        .selectFrom('alerts')
        .where('subjectId', '=', endpoint.id)
        .orderBy('occurredAt')
        .select(['eventKind', 'severity', 'status', 'subjectName', 'count'])
        .execute()
    const notified = (count: number) =>
      eventually(`${count} alerts`, async () => {
        const found = await alerts()
        return found.length >= count && found
      })
    await endpoint.send()
    await endpoint.send()
    const rejected = {
      eventKind: 'capture.rejected',
      severity: 'warning',
      status: 'single',
      subjectName: 'busy',
      count: 1,
    } as const
    expect(await notified(1)).toEqual([rejected])
    expect(await burst(endpoint, 3)).toEqual([429, 429, 429])
    await clock.advance(3_600_000)
    expect(await burst(endpoint, 2)).toEqual([200, 429])
    expect(await notified(2)).toEqual([rejected, { ...rejected, count: 4 }])
  })

  test('other endpoints are not held up', async () => {
    const loud = await endpointOn('rate1')
    const quiet = await loud.client.endpoint()
    const [statuses, [other]] = await Promise.all([burst(loud, 10), burst(quiet, 1)])
    expect({ accepted: statuses.filter((status) => status === 200).length, other }).toEqual({
      accepted: 1,
      other: 200,
    })
  })

  test('what is refused is refused by every gateway', async () => {
    const statuses = await burstAtBoth(await endpointOn('rate20'), 60)
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    expect(statuses.filter((status) => status === 429)).toHaveLength(40)
  })
})

describe('at the stored-request cap', () => {
  test('the oldest are evicted, and no sender notices', async () => {
    const endpoint = await endpointOn('cap3')
    const rows: Awaited<ReturnType<typeof endpoint.capture>>[] = []
    for (let n = 0; n < 5; n += 1) rows.push(await endpoint.capture({ body: '{"n":1}' }))
    expect((await endpoint.requests()).map(({ id }) => id)).toEqual(
      rows
        .slice(2)
        .map(({ id }) => id)
        .reverse(),
    )
    expect((await statsOf(endpoint)).storage).toMatchObject({
      storedRequestCount: 3,
      storedBytes: 21,
      evictedCount: 2,
    })
  })

  test('a burst larger than the cap leaves the newest', async () => {
    const endpoint = await endpointOn('cap5')
    expect(new Set(await burst(endpoint, 200))).toEqual(new Set([200]))
    const ids = (await endpoint.requests()).map(({ id }) => id)
    expect(ids).toHaveLength(5)
    expect((await statsOf(endpoint)).storage).toMatchObject({ storedRequestCount: 5, evictedCount: 195 })
    expect(Math.max(...ids) - Math.min(...ids)).toBe(4)
  })

  test('two gateways on one endpoint keep to it, and the counts equal the rows', async () => {
    const endpoint = await endpointOn('cap5')
    await burstAtBoth(endpoint, 400)
    expect(await endpoint.requests()).toHaveLength(5)
    expect((await statsOf(endpoint)).storage).toMatchObject({ storedRequestCount: 5, evictedCount: 395 })
  })

  test('a smaller cap takes effect with the next capture', async () => {
    const endpoint = await endpointOn('cap5')
    await burst(endpoint, 5)
    const { workspaceId } = endpoint.client
    await first.operator.workspaces.setPlan({ workspace: workspaceId, plan: PLANS.cap3 })
    expect(await endpoint.requests()).toHaveLength(5)
    expect((await endpoint.send()).status).toBe(200)
    expect((await statsOf(endpoint)).storage.storedRequestCount).toBe(3)
  })

  test('a cap that is lowered by far is reached in bounded steps', async () => {
    const endpoint = await endpointOn('rate1')
    const { client } = endpoint
    const line = JSON.stringify({ receivedAt: first.clock.now().toISOString(), method: 'POST' })
    expect((await endpoint.importLines(`${line}\n`.repeat(4500))).status).toBe(200)
    await first.operator.workspaces.setPlan({ workspace: client.workspaceId, plan: PLANS.cap3 })
    expect((await endpoint.send()).status).toBe(200)
    expect((await statsOf(endpoint)).storage).toMatchObject({ storedRequestCount: 500, evictedCount: 4001 })
    const last = await endpoint.capture()
    expect((await statsOf(endpoint)).storage).toMatchObject({ storedRequestCount: 3, evictedCount: 4499 })
    expect((await endpoint.requests())[0]?.id).toBe(last.id)
  })

  test('what is in the recycle bin does not count and is not evicted', async () => {
    const endpoint = await endpointOn('cap3')
    const { client } = endpoint
    const [binned] = await endpoint.captureMany(3)
    await client.delete(endpoint.at(`/requests/${binned?.id}`))
    const rows = await endpoint.captureMany(3)
    expect((await endpoint.requests()).map(({ id }) => id)).toEqual(rows.map(({ id }) => id).reverse())
    const bin = await client.expect(client.get('/api/v1/recycle-bin'), z.looseObject({ totalCount: z.int() }))
    expect(bin.totalCount).toBe(1)
  })

  test('an evicted request is gone at once, and its queued delivery is still made', async () => {
    const service = await startService({ limits: { storedRequestsMax: 1 } })
    const { alice } = service
    const endpoint = await alice.endpoint()
    const release = Promise.withResolvers<void>()
    await using receiver = await startReceiver(async (_, response) => {
      await release.promise
      response.end()
    })
    await alice.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url })
    const first = await endpoint.capture({ body: '{"n":1}' })
    const second = await endpoint.capture({ body: '{"n":2}' })
    expect((await endpoint.requests()).map(({ id }) => id)).toEqual([second.id])
    expect((await alice.get(endpoint.at(`/requests/${first.id}`))).status).toBe(404)
    release.resolve()
    const received = await receiver.take(2)
    expect(received.map(({ body }) => body.toString()).sort()).toEqual(['{"n":1}', '{"n":2}'])
  })
})

describe('over the payload cap', () => {
  test('a prefix is kept and the rest counted, and the sender is answered as ever', async () => {
    const endpoint = await endpointOn('cap3', { signatureHeader: 'X-Sig', signingSecret: 'a secret of mine' })
    const body = `${'é'.repeat(50_000)}x`
    const row = await endpoint.capture({ body })
    expect(row).toMatchObject({
      sizeBytes: 100_001,
      bodyTruncated: true,
      bodyIsBinary: false,
      verification: { verdict: 'unverifiable', note: 'body over the size cap' },
    })
    const detail = await endpoint.client.get(endpoint.at(`/requests/${row.id}`))
    expect(detail.body).toMatchObject({ body: body.slice(0, 32_768) })
    expect((await statsOf(endpoint)).storage.storedBytes).toBe(65_536)
  })

  test('the prefix is no longer than the cap, and exactly the cap is not over it', async () => {
    const endpoint = await endpointOn('rate20')
    expect(await endpoint.capture({ body: '0123456789' })).toMatchObject({ bodyTruncated: false })
    const row = await endpoint.capture({ body: '0123456789a' })
    expect(row).toMatchObject({
      bodyTruncated: true,
      sizeBytes: 11,
      bodyPreview: '0123456789',
      verification: null,
    })
  })

  test('a body of 300 MB is counted without being buffered', async () => {
    const database = await createTestDatabase()
    const creel = await startProcess({ database }, ['--only', 'gateway'])
    const url = creel.first?.captureUrl ?? ''
    const residentMegabytes = async () => Number(await Bun.$`ps -o rss= -p ${creel.pid}`.text()) / 1024
    expect((await fetch(url, { method: 'POST', body: 'warm' })).status).toBe(200)
    const before = await residentMegabytes()
    const chunk = new Uint8Array(1_000_000)
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent === 300) controller.close()
        else controller.enqueue(chunk)
        sent += 1
      },
    })
    expect((await fetch(url, { method: 'POST', body })).status).toBe(200)
    expect((await residentMegabytes()) - before).toBeLessThan(150)
    await creel.stop()
    const { db, close } = openDatabase(database.url, 1)
    const stored = await db
      .selectFrom('requests')
      .select(['sizeBytes', 'bodyTruncated'])
      .orderBy('id')
      .execute()
    await close()
    await database.drop()
    expect(stored.at(-1)).toEqual({ sizeBytes: 300_000_000, bodyTruncated: true })
  })
})
