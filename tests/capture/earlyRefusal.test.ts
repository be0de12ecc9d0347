import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sweepRejections } from '@creel/core/traffic'
import { z } from 'zod'
import type { TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { sendRaw } from '../support/rawSender.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({
    parts: ['gateway'],
    limits: { captureRatePerMinute: 2, captureBytesPerMinute: 1000 },
  })
})
afterAll(async () => {
  await service.stop()
})

const Traffic = z.object({ buckets: z.array(z.object({ rejectedCount: z.int() })) })

const Stats = z.looseObject({ traffic: z.looseObject({ rejectedCount: z.int() }) })

const rejectedBy = async (endpoint: TestEndpoint) => {
  const stats = await endpoint.client.expect(endpoint.client.get(endpoint.at('/stats')), Stats)
  return stats.traffic.rejectedCount
}

async function statuses(endpoint: TestEndpoint, bodies: readonly string[]): Promise<number[]> {
  const seen: number[] = []
  for (const body of bodies) seen.push((await endpoint.send({ body })).status)
  return seen
}

/** Announces a body and sends none of it, so that an answer proves that the body was not read. */
const announce = async (endpoint: TestEndpoint) =>
  await sendRaw(
    service.captureUrl,
    `POST ${new URL(endpoint.url).pathname} HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n`,
  )

/** A chunked body that is no good HTTP, in one piece with its head. */
const sendBroken = async (path: string) =>
  await sendRaw(
    service.captureUrl,
    `POST ${path} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
  )

test('a refusal that does not need the body is sent although the body is no good HTTP', async () => {
  const endpoint = await service.alice.endpoint()
  const { pathname } = new URL(endpoint.url)
  expect((await sendBroken(pathname)).status).toBe(400)
  expect(await statuses(endpoint, ['{}', '{}', '{}'])).toEqual([200, 200, 429])
  const refused = await sendBroken(pathname)
  expect(refused.status).toBe(429)
  expect(refused.fields).toContain('Connection: close')
  expect((await sendBroken(`/hook/${crypto.randomUUID()}`)).status).toBe(404)
})

describe('an endpoint over its rate', () => {
  test('refuses before the body is read, and counts every refusal', async () => {
    const endpoint = await service.alice.endpoint()
    expect(await statuses(endpoint, ['{}', '{}', '{}'])).toEqual([200, 200, 429])
    const refused = await announce(endpoint)
    expect(refused.status).toBe(429)
    const wait = Number(refused.fields.find((field) => field.startsWith('Retry-After'))?.slice(13))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(60)
    const burst = await Promise.all(Array.from({ length: 20 }, () => endpoint.send()))
    expect(new Set(burst.map(({ status }) => status))).toEqual(new Set([429]))
    expect(await rejectedBy(endpoint)).toBe(22)
    expect(await endpoint.requests()).toHaveLength(2)
    await eventually('the traffic to tell of the refusals', async () => {
      const { client } = endpoint
      const { buckets } = await client.expect(client.get(endpoint.at('/traffic')), Traffic)
      return buckets.reduce((sum, { rejectedCount }) => sum + rejectedCount, 0) === 22
    })
  })

  test('loses the minutes of its refusals when traffic is no longer counted so far back', async () => {
    const endpoint = await service.alice.endpoint()
    const minutesOf = () =>
      service.db
        .selectFrom('rejectionMinutes')
        .where('endpointId', '=', endpoint.id)
        .select('minute')
        .execute()
    const day = 86_400_000
    const now = service.clock.now().getTime()
    const [kept, old] = [new Date(now - 89 * day), new Date(now - 91 * day)]
    await service.db
      .insertInto('rejectionMinutes')
      .values([kept, old].map((minute) => ({ endpointId: endpoint.id, minute, rejectedCount: 1 })))
      .execute()
    await sweepRejections(service.running.services)
    expect(await minutesOf()).toEqual([{ minute: kept }])
  })

  test('takes the very next capture when its settings have changed or its window has ended', async () => {
    const first = await startService({ parts: ['gateway'], limits: { captureRatePerMinute: 1 } })
    const endpoint = await first.alice.endpoint()
    expect(await statuses(endpoint, ['{}', '{}', '{}'])).toEqual([200, 429, 429])
    // The row gets a new window. This process keeps using the old one until its end.
    await first.db
      .updateTable('endpointCounters')
      .set({ windowStartedAt: new Date(0) })
      .execute()
    expect(await statuses(endpoint, ['{}', '{}'])).toEqual([200, 429])
    // The clock of the database was set back by an hour.
    await first.db
      .updateTable('endpointCounters')
      .set({ windowStartedAt: new Date(Date.now() + 3_600_000) })
      .execute()
    expect(await statuses(endpoint, ['{}', '{}'])).toEqual([200, 429])
    await first.alice.patch(endpoint.at(''), { isActive: false })
    expect(await statuses(endpoint, ['{}'])).toEqual([404])
    await first.stop()
  })

  test('counts bytes, too: the capture that passes the bound is the last of its window', async () => {
    const [endpoint, other] = [await service.alice.endpoint(), await service.alice.endpoint()]
    expect(await statuses(endpoint, ['x'.repeat(2000), ''])).toEqual([200, 429])
    expect((await announce(endpoint)).status).toBe(429)
    expect(await rejectedBy(endpoint)).toBe(2)
    expect(await statuses(other, ['x'.repeat(999), 'x'.repeat(999)])).toEqual([200, 200])
    await service.clock.advance(60_000)
    expect(await statuses(endpoint, ['x'])).toEqual([200])
  })

  test('of one batch, no more is taken than passes the bound once', async () => {
    const generous = await startService({ parts: ['gateway'], limits: { captureBytesPerMinute: 10_000 } })
    const endpoint = await generous.alice.endpoint()
    const sent = await Promise.all(
      Array.from({ length: 40 }, () => endpoint.send({ body: 'x'.repeat(1000) })),
    )
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(await rejectedBy(endpoint)).toBe(30)
    await generous.stop()
  })
})
