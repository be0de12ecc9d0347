import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { loadCaptureSettings } from '../../core/src/capture/captureSettings.ts'
import type { Client } from '../support/client.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/** A service without workers, so that queued jobs stay queued. */
let service: TestService
let client: Client

beforeAll(async () => {
  service = await startService({ parts: ['gateway'] })
  client = service.alice
})

const Watchdog = z.looseObject({
  id: z.string(),
  state: z.string(),
  lastMatchedRequestId: z.int().nullable(),
})

describe('a capture and what it sets in motion', () => {
  test('commit together: a capture whose deliveries cannot be queued is not stored, and its sender hears so', async () => {
    const endpoint = await client.endpoint()
    await client.post(endpoint.at('/actions'), { kind: 'forward', url: 'http://127.0.0.1:9/' })
    await sql`alter table deliveries add constraint broken check (false) not valid`.execute(service.db)
    const answer = await endpoint.send()
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status: 503,
      text: '{"error":"unavailable"}',
    })
    expect(await endpoint.requests()).toEqual([])
    await sql`alter table deliveries drop constraint broken`.execute(service.db)
    expect(await endpoint.capture()).toMatchObject({ state: 'Pending' })
    const { count } = await service.db
      .selectFrom('deliveries')
      .where('endpointId', '=', endpoint.id)
      .select((of) => of.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    expect(count).toBe(1)
  })

  test.each([
    ['watchdog', () => sql`update watchdog_criteria set match = '{'`],
    ['action', () => sql`update actions set condition = '{'`],
  ])(
    'settings of an endpoint that cannot be read, as of a broken %s, fail for no other',
    async (_, broken) => {
      const [one, other] = [await client.endpoint(), await client.endpoint()]
      await client.post('/api/v1/watchdogs', { endpointId: one.id, expectedIntervalSeconds: 60 })
      await client.post(one.at('/actions'), { kind: 'forward', url: 'http://127.0.0.1:9/' })
      await sql`${broken()} where endpoint_id = ${one.id}`.execute(service.db)
      const found = await loadCaptureSettings(service.running.services, [one.id, other.id])
      expect(found.get(one.id)).toBeInstanceOf(Error)
      expect(found.get(other.id)).toMatchObject({ endpointId: other.id })
      expect([(await one.send()).status, (await other.send()).status]).toEqual([503, 200])
    },
  )

  test('an action works for the very next capture, and is gone for the one after its removal', async () => {
    const endpoint = await client.endpoint()
    const action = { kind: 'forward', url: 'http://127.0.0.1:9/' }
    for (let turn = 0; turn < 10; turn += 1) {
      expect(await endpoint.capture()).toMatchObject({ state: 'NotAttempted' })
      const { id } = await client.expect(
        client.post(endpoint.at('/actions'), {
          ...action,
          condition: { path: 'body.n', op: 'eq', value: turn },
        }),
        z.looseObject({ id: z.string() }),
      )
      expect(await endpoint.capture({ body: `{"n":${turn}}` })).toMatchObject({ state: 'Pending' })
      expect(await endpoint.capture({ body: '{"n":-1}' })).toMatchObject({ state: 'Skipped' })
      await client.delete(endpoint.at(`/actions/${id}`))
    }
  })

  test('a mixed batch: each endpoint gets what is its own', async () => {
    const forwarding = await client.endpoint()
    const plain = await client.endpoint()
    await client.post(forwarding.at('/actions'), { kind: 'forward', url: 'http://127.0.0.1:9/' })
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 === 0 ? forwarding : plain).send({ body: `${index}` }),
      ),
    )
    const forwarded = (await forwarding.requests()).map(({ id }) => id)
    expect(forwarded).toHaveLength(20)
    expect(await plain.requests()).toHaveLength(20)
    const rows = await service.db
      .selectFrom('deliveries')
      .where('endpointId', 'in', [forwarding.id, plain.id])
      .select('requestId')
      .execute()
    expect(rows.map(({ requestId }) => requestId).sort((a, b) => b - a)).toEqual(forwarded)
  })

  test('the bytes that are forwarded are the bytes that came', async () => {
    const working = await startService()
    const endpoint = await working.alice.endpoint()
    await using receiver = await startReceiver()
    await working.alice.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url })
    const body = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    await endpoint.capture({ body, headers: { 'Content-Type': 'application/octet-stream' } })
    const [received] = await receiver.take(1)
    expect(received?.body).toEqual(Buffer.from(body))
    await working.stop()
  })

  test('a watchdog notices the last match of a batch', async () => {
    const endpoint = await client.endpoint()
    const made = await client.expect(
      client.post('/api/v1/watchdogs', {
        endpointId: endpoint.id,
        expectedIntervalSeconds: 3600,
        match: { path: 'body.type', op: 'eq', value: 'beat' },
      }),
      Watchdog,
    )
    expect(made.state).toBe('waiting')
    await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        endpoint.send({ body: index % 3 === 0 ? '{"type":"beat"}' : '{"type":"other"}' }),
      ),
    )
    const beats = (await endpoint.requests()).filter(({ label }) => label === 'beat')
    const watchdog = await client.expect(client.get(`/api/v1/watchdogs/${made.id}`), Watchdog)
    expect(watchdog).toMatchObject({ state: 'onTime', lastMatchedRequestId: beats[0]?.id ?? null })
  })

  test('whoever awaits it is woken', async () => {
    const endpoint = await client.endpoint()
    const waiting = client.get(endpoint.at('/requests/await?afterId=0&timeoutSeconds=30'))
    const { id } = await endpoint.capture()
    expect((await waiting).body).toMatchObject({ id })
  })
})
