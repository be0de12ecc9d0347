import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { eventually } from '../../support/eventually.ts'
import { wrongParts } from '../../support/problems.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({
    parts: ['gateway'],
    limits: { apiRatePerMinute: 100_000, parallelAwaitsMax: 2 },
  })
})

/** Resolves when `count` awaits of this service hold a slot. */
async function taken(count: number): Promise<void> {
  const held = async () => (await service.db.selectFrom('concurrencySlots').selectAll().execute()).length
  await eventually(`${count} awaits that hold a place`, async () => (await held()) >= count)
}

async function metricsText(): Promise<string> {
  return await (await fetch(`${service.baseUrl}/metrics`)).text()
}

const idOf = (body: unknown) => Object(body).id

describe('GET /api/v1/endpoints/{endpointId}/requests/await', () => {
  test('answers with the next capture, whole, as soon as it is stored', async () => {
    const endpoint = await service.alice.endpoint()
    const waiting = service.alice.get(endpoint.at('/requests/await?timeoutSeconds=20'))
    await endpoint.send({ body: '{"hello":"world"}' })
    expect(await waiting).toMatchObject({ status: 200, body: { body: '{"hello":"world"}', method: 'POST' } })
  })

  test('without afterId answers the newest that is stored already', async () => {
    const endpoint = await service.alice.endpoint()
    const [, newer] = await endpoint.captureMany(2)
    const answer = await service.alice.get(endpoint.at('/requests/await?timeoutSeconds=20'))
    expect(idOf(answer.body)).toBe(newer?.id)
  })

  test('with afterId answers the lowest match above it, so that a loop leaves no gap', async () => {
    const endpoint = await service.alice.endpoint()
    const captured = await endpoint.captureMany(3)
    const seen: number[] = []
    for (let afterId = 0; seen.length < 3; afterId = seen.at(-1) ?? 0) {
      const answer = await service.alice.get(
        endpoint.at(`/requests/await?timeoutSeconds=20&afterId=${afterId}`),
      )
      seen.push(idOf(answer.body))
    }
    expect(seen).toEqual(captured.map(({ id }) => id))
  })

  test('passes over what does not match its filters', async () => {
    const endpoint = await service.alice.endpoint()
    await endpoint.send({ body: '{"type":"other"}' })
    const waiting = service.alice.get(
      endpoint.at('/requests/await?timeoutSeconds=20&label=wanted&method=post'),
    )
    await endpoint.send({ body: '{"type":"other"}' })
    await endpoint.send({ body: '{"type":"wanted"}' })
    expect(await waiting).toMatchObject({ status: 200, body: { label: 'wanted' } })
  })

  test('finds a text in what is stored, the newest first, and in what comes', async () => {
    const endpoint = await service.alice.endpoint()
    await endpoint.send({ body: 'needle 1' })
    await endpoint.send({ body: 'needle 2' })
    await endpoint.send({ body: 'hay' })
    const stored = await service.alice.get(endpoint.at('/requests/await?timeoutSeconds=20&q=needle'))
    expect(stored).toMatchObject({ status: 200, body: { body: 'needle 2' } })
    const waiting = service.alice.get(endpoint.at('/requests/await?timeoutSeconds=20&q=pin'))
    await endpoint.send({ body: 'a pin' })
    expect(await waiting).toMatchObject({ status: 200, body: { body: 'a pin' } })
  })

  test('is woken by a capture through another process', async () => {
    const other = await startService({
      parts: ['gateway'],
      database: service.database,
      secretKey: service.secretKey,
    })
    // A process now and then has nothing to say.
    other.running.services.endpointChanges.announce([])
    const endpoint = await service.alice.endpoint()
    const waiting = service.alice.get(endpoint.at('/requests/await?timeoutSeconds=20'))
    await taken(1)
    // The poll for lost notifications names no endpoint.
    const heard: unknown[] = []
    const stop = service.running.services.endpointChanges.onAny((endpointId) => void heard.push(endpointId))
    await fetch(`${other.captureUrl}/hook/${endpoint.id}`, { method: 'POST', body: 'x' })
    await eventually('the notification', () => heard.includes(endpoint.id))
    expect((await waiting).status).toBe(200)
    stop()
    await other.stop()
  })

  test('times out with 204 and no body', async () => {
    const endpoint = await service.alice.endpoint()
    const answer = await service.alice.get(endpoint.at('/requests/await?timeoutSeconds=1'))
    expect([answer.status, answer.text]).toEqual([204, ''])
  })

  test.each(['label=none', 'q=none&afterId=0', 'state=Failed', 'q=none', ''])(
    'times out with 204 while its look with "%s" is held up',
    async (filter) => {
      const endpoint = await service.alice.endpoint()
      const path = endpoint.at(`/requests/await?timeoutSeconds=1&${filter}`)
      const begunAt = performance.now()
      expect((await service.alice.get(path)).status).toBe(204)
      // Hardly longer than without the lock, on any machine.
      const mostMs = 1_000 + 2 * (performance.now() - begunAt)
      const answer = await service.db.transaction().execute(async (trx) => {
        await sql`lock table requests in access exclusive mode`.execute(trx)
        return await service.alice.get(path, { signal: AbortSignal.timeout(mostMs) })
      })
      expect([answer.status, answer.text]).toEqual([204, ''])
    },
  )

  test('with a filter is answered by what comes, and not by what is restored from below', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    const binned = await endpoint.capture({ body: '{"type":"wanted"}' })
    await endpoint.send({ body: '{"type":"other"}' })
    await client.delete(endpoint.at(`/requests/${binned.id}`))
    const waiting = client.get(endpoint.at('/requests/await?timeoutSeconds=20&label=wanted'))
    await eventually('the await waits', async () => /^creel_awaits_waiting 1$/m.test(await metricsText()))
    await client.post('/api/v1/recycle-bin/restore', { requestIds: [binned.id] })
    await endpoint.send({ body: '{"type":"other"}' })
    await endpoint.send({ body: '{"type":"wanted"}' })
    expect(idOf((await waiting).body)).toBeGreaterThan(binned.id)
  })

  test('answers 404 as soon as the endpoint is deleted', async () => {
    const endpoint = await service.alice.endpoint()
    const waiting = service.alice.get(endpoint.at('/requests/await?timeoutSeconds=20'))
    await service.alice.delete(endpoint.at(''))
    expect((await waiting).status).toBe(404)
  })

  test('answers 401 within 6 s when its key is revoked, and nothing of what arrives then', async () => {
    const endpoint = await service.alice.endpoint()
    const made = await service.alice.post('/api/v1/keys', { name: 'short', scope: 'read' })
    const Key = z.looseObject({ id: z.string(), key: z.string() })
    const { id, key } = Key.parse(made.body)
    const waiting = service.alice.get(endpoint.at('/requests/await?timeoutSeconds=60'), {
      headers: { Authorization: `Bearer ${key}` },
    })
    await taken(1)
    await service.alice.delete(`/api/v1/keys/${id}`)
    expect(await waiting).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    await eventually('its slot is free', async () => {
      const held = await service.db.selectFrom('concurrencySlots').selectAll().execute()
      return !held.some(({ scope }) => scope.includes(id))
    })
  })

  test.each<[string, string]>([
    ['timeoutSeconds=0', '?timeoutSeconds out_of_range'],
    ['timeoutSeconds=61', '?timeoutSeconds out_of_range'],
    ['timeoutSeconds=1.5', '?timeoutSeconds type'],
    ['state=waiting', '?state unknown_value'],
  ])('%s answers 400 at once', async (query, part) => {
    const endpoint = await service.alice.endpoint()
    expect(wrongParts(await service.alice.get(endpoint.at(`/requests/await?${query}`)))).toEqual([part])
  })

  test("over the key's parallel awaits answers 429; sleeping Retry-After recovers, and the slot is kept", async () => {
    const dana = await service.newClient()
    const endpoint = await dana.endpoint()
    const path = endpoint.at('/requests/await?timeoutSeconds=30')
    const waiting = [dana.get(path), dana.get(path)]
    await taken(2)
    const refused = await dana.get(endpoint.at('/requests/await?timeoutSeconds=1'))
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeWithin(1, 61)
    await endpoint.send()
    expect(await Promise.all(waiting)).toMatchObject([{ status: 200 }, { status: 200 }])
    await service.clock.advance(seconds * 1000)
    expect((await dana.get(path)).status).toBe(200)
  })

  test('a place whose await was answered early goes to the next caller, whoever was refused before', async () => {
    const dana = await service.newClient()
    const endpoint = await dana.endpoint()
    const path = endpoint.at('/requests/await?timeoutSeconds=30')
    const both = () => [dana.get(path), dana.get(path)]
    const waiting = both()
    await taken(2)
    expect(await Promise.all(both())).toMatchObject([{ status: 429 }, { status: 429 }])
    await endpoint.send()
    expect(await Promise.all(waiting)).toMatchObject([{ status: 200 }, { status: 200 }])
    expect(await Promise.all(both())).toMatchObject([{ status: 200 }, { status: 200 }])
  })

  test('of five that come at once as many wait as may, and each of the others is told when to come back', async () => {
    const dana = await service.newClient()
    const endpoint = await dana.endpoint()
    const refusals: number[] = []
    const calls = Array.from({ length: 5 }, async () => {
      const { status, headers } = await dana.get(endpoint.at('/requests/await?timeoutSeconds=20'))
      if (status === 429) refusals.push(Number(headers.get('retry-after')))
      return status
    })
    await eventually('three refusals', () => refusals.length === 3)
    for (const seconds of refusals) expect(seconds).toBeWithin(1, 21)
    await endpoint.send()
    expect((await Promise.all(calls)).sort()).toEqual([200, 200, 429, 429, 429])
  })

  test('a client that hangs up gives its place back', async () => {
    const dana = await service.newClient()
    const endpoint = await dana.endpoint()
    const path = endpoint.at('/requests/await?timeoutSeconds=60')
    for (let again = 0; again < 3; again += 1) {
      const leaving = new AbortController()
      const waiting = dana.get(path, { signal: leaving.signal }).then(
        ({ status }) => status,
        () => 'left',
      )
      // It is waiting once another await, which ends by itself, has been answered.
      await dana.get(endpoint.at('/requests/await?timeoutSeconds=1'))
      leaving.abort()
      expect(await waiting).toBe('left')
    }
  })
})
