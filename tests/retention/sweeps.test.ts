import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  sweepEndpoints as sweepEndpointsNow,
  sweepRetention as sweepRetentionNow,
} from '@creel/core/retention'
import { sql } from 'kysely'
import { z } from 'zod'
import { TestBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { holdOpen } from '../support/heldWrites.ts'
import { isWaitingForLock } from '../support/lockWaits.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import {
  DAY,
  expectCountersEqualRows,
  MINUTE,
  rowsOf,
  sweepEndpoints,
  sweepRetention,
  whileBroken,
} from './support.ts'

const NOTHING = {
  requests: 0,
  deliveries: 0,
  attempts: 0,
  details: 0,
  actions: 0,
  watchdogs: 0,
  shareLinks: 0,
  endpoints: 0,
}
const never = () => new AbortController().signal

const receivers: Receiver[] = []
afterAll(async () => {
  for (const receiver of receivers) await receiver[Symbol.asyncDispose]()
})
async function receiver(): Promise<Receiver> {
  const started = await startReceiver()
  receivers.push(started)
  return started
}

const Made = z.looseObject({ id: z.string() })
const Attempts = z.looseObject({
  items: z.array(
    z.looseObject({
      id: z.int(),
      requestId: z.int(),
      state: z.string(),
      error: z.string().nullable(),
      hasDetail: z.boolean(),
    }),
  ),
})

/** A service with the default limits of every plan. */
let service: TestService
/** A service without workers, so that queued jobs stay queued. */
let idle: TestService

beforeAll(async () => {
  service = await startService({ planLimits: { 'self-hosted': { storedRequestsMax: 1 } } })
  idle = await startService({
    parts: ['gateway'],
    planLimits: {
      solo: { retentionDays: 1, storedRequestsMax: 10_000, captureRatePerMinute: 100_000 },
      pro: { storedRequestsMax: 2 },
    },
  })
})

describe('retention by plan', () => {
  test('deletes stored requests when the window of their plan ends, and no others', async () => {
    const [solo, pro] = [await service.newClient('solo'), await service.newClient('pro')]
    const [short, long] = [await solo.endpoint(), await pro.endpoint()]
    await short.captureMany(3)
    const kept = await long.capture()
    await service.clock.advance(10 * DAY)
    const younger = await short.capture()
    await service.clock.advance(4 * DAY - MINUTE)
    await sweepRetention(service)
    expect(await short.requests()).toHaveLength(4)

    await service.clock.advance(2 * MINUTE)
    await sweepRetention(service)
    expect((await short.requests()).map(({ id }) => id)).toEqual([younger.id])
    expect((await long.requests()).map(({ id }) => id)).toEqual([kept.id])
    await expectCountersEqualRows(service, short.id)

    await service.clock.advance(20 * DAY)
    await sweepRetention(service)
    expect(await rowsOf(service, short.id)).toEqual({ ...NOTHING, endpoints: 1 })
    expect(await rowsOf(service, long.id)).toEqual({ ...NOTHING, endpoints: 1 })
    await expectCountersEqualRows(service, short.id)
    const next = await short.capture()
    expect((await short.requests()).map(({ id }) => id)).toEqual([next.id])
  })

  test('deletes imported requests by their own times, however many younger ones came before the import', async () => {
    const client = await service.newClient('pro')
    const [old, endpoint] = [await client.endpoint(), await client.endpoint()]
    await old.captureMany(2)
    await service.clock.advance(29 * DAY)
    // More than one batch of the sweep.
    await endpoint.captureMany(250)
    const { text: rawBody } = await client.get(old.at('/requests/export?includeSecrets=true'))
    await endpoint.importLines(rawBody)
    await sweepRetention(service)
    expect(await rowsOf(service, endpoint.id)).toMatchObject({ requests: 252 })

    await service.clock.advance(2 * DAY)
    await sweepRetention(service)
    expect(await rowsOf(service, endpoint.id)).toMatchObject({ requests: 250 })
    await expectCountersEqualRows(service, endpoint.id)
  })

  test('follows a downgrade: only what the new window ends goes', async () => {
    const client = await service.newClient('team')
    const endpoint = await client.endpoint()
    await endpoint.capture()
    await service.clock.advance(20 * DAY)
    const recent = await endpoint.capture()
    await sweepRetention(service)
    expect(await endpoint.requests()).toHaveLength(2)
    await service.operator.workspaces.setPlan({ workspace: client.workspaceId, plan: 'solo' })
    await sweepRetention(service)
    expect((await endpoint.requests()).map(({ id }) => id)).toEqual([recent.id])
  })

  test('ends what was still to be delivered as DeadLetter, for the reason of retention', async () => {
    const alice = await idle.newClient('solo')
    const endpoint = await alice.endpoint({ forwardUrl: (await receiver()).url })
    const captured = await endpoint.capture()
    await idle.clock.advance(DAY + MINUTE)
    await sweepRetentionNow(idle.running.services, never())
    expect(await endpoint.requests()).toEqual([])
    const { items } = await alice.expect(alice.get(endpoint.at('/deliveries')), Attempts)
    expect(items).toMatchObject([
      { requestId: captured.id, state: 'DeadLetter', error: 'retention', hasDetail: false },
    ])
    expect(await rowsOf(idle, endpoint.id)).toMatchObject({ requests: 0, deliveries: 0, attempts: 1 })
  })

  test('ends what was still to be told as Errored: a channel never alerts about itself', async () => {
    const alice = await idle.newClient('solo')
    const endpoint = await alice.endpoint()
    const channel = { kind: 'webhook', settings: { url: (await receiver()).url } }
    const { id } = await alice.expect(alice.post('/api/v1/alert-channels', channel), Made)
    await alice.expect(
      alice.post(endpoint.at('/actions'), { kind: 'notify', name: 'Tell', alertChannelId: id }),
      Made,
    )
    const captured = await endpoint.capture()
    expect(await rowsOf(idle, endpoint.id)).toMatchObject({ requests: 1, deliveries: 1, attempts: 0 })
    await idle.clock.advance(DAY + MINUTE)
    await sweepRetentionNow(idle.running.services, never())
    const { items } = await alice.expect(alice.get(endpoint.at('/deliveries')), Attempts)
    expect(items).toMatchObject([
      { requestId: captured.id, kind: 'notify', state: 'Errored', error: 'retention', hasDetail: false },
    ])
    expect(await rowsOf(idle, endpoint.id)).toMatchObject({ requests: 0, deliveries: 0, attempts: 1 })
    expect((await alice.get('/api/v1/incidents')).body).toMatchObject({ items: [] })
  })

  test('deletes attempts and their records when they are older than the window', async () => {
    const alice = await service.newClient('solo')
    const target = await receiver()
    const endpoint = await alice.endpoint({ forwardUrl: target.url })
    await endpoint.capture()
    // One that is under way would be interrupted by the leap, and made again.
    await delivered(service, endpoint.id, 1)
    await service.clock.advance(15 * DAY)
    await sweepRetention(service)
    expect(await rowsOf(service, endpoint.id)).toEqual({ ...NOTHING, endpoints: 1, actions: 1 })
  })

  test('keeps the full record of an attempt whose request was evicted', async () => {
    const alice = await service.newClient('self-hosted')
    const target = await receiver()
    const endpoint = await alice.endpoint({ forwardUrl: target.url })
    const first = await endpoint.capture()
    await delivered(service, endpoint.id, 1)
    const second = await endpoint.capture()
    await delivered(service, endpoint.id, 2)
    await sweepRetention(service)
    const { items } = await alice.expect(alice.get(endpoint.at('/deliveries')), Attempts)
    expect(items.map(({ requestId, hasDetail }) => [requestId, hasDetail])).toEqual([
      [second.id, true],
      [first.id, true],
    ])
    expect((await alice.get(endpoint.at(`/deliveries/${items[1]?.id}`))).body).toMatchObject({
      sent: { method: 'POST', body: '{}' },
      received: { statusCode: 200 },
    })
  })
})

/** Resolves when `count` attempts of the endpoint have succeeded. */
async function delivered(service: TestService, endpointId: string, count: number): Promise<void> {
  const succeeded = service.db
    .selectFrom('deliveryAttempts')
    .where('endpointId', '=', endpointId)
    .where('state', '=', 'Succeeded')
    .select('id')
  await eventually(`${count} successful attempts`, async () => (await succeeded.execute()).length >= count)
}

describe('the recycle bin', () => {
  test('lets a request go for good after 7 days, with its attempts', async () => {
    const alice = await service.newClient()
    const endpoint = await alice.endpoint({ forwardUrl: (await receiver()).url })
    const captured = await endpoint.capture()
    await delivered(service, endpoint.id, 1)
    await alice.delete(endpoint.at(`/requests/${captured.id}`))
    await service.clock.advance(7 * DAY - MINUTE)
    await sweepRetention(service)
    expect((await rowsOf(service, endpoint.id)).requests).toBe(1)
    await service.clock.advance(2 * MINUTE)
    await sweepRetention(service)
    expect(await rowsOf(service, endpoint.id)).toEqual({ ...NOTHING, endpoints: 1, actions: 1 })
    await expectCountersEqualRows(service, endpoint.id)
  })

  test('keeps the bytes of a request whose deliveries are still due, out of sight', async () => {
    const { alice } = idle
    const endpoint = await alice.endpoint({ forwardUrl: (await receiver()).url })
    const captured = await endpoint.capture()
    await alice.delete(endpoint.at(`/requests/${captured.id}`))
    await idle.clock.advance(7 * DAY + MINUTE)
    await sweepRetentionNow(idle.running.services, never())
    expect(await rowsOf(idle, endpoint.id)).toMatchObject({ requests: 1, deliveries: 1 })
    await expectCountersEqualRows(idle, endpoint.id)
    expect((await alice.get('/api/v1/recycle-bin')).body).toMatchObject({ totalCount: 0 })
    const restored = await alice.post('/api/v1/recycle-bin/restore', { requestIds: [captured.id] })
    expect(restored.body).toEqual({ restoredCount: 0, skippedAtCap: 0 })

    await idle.db.deleteFrom('deliveries').where('endpointId', '=', endpoint.id).execute()
    await sweepRetentionNow(idle.running.services, never())
    expect(await rowsOf(idle, endpoint.id)).toMatchObject({ requests: 0, attempts: 0 })
  })
})

test('no more evicted requests wait for their deliveries than the plan stores', async () => {
  const alice = await idle.newClient('pro')
  const endpoint = await alice.endpoint({ forwardUrl: (await receiver()).url })
  const first = await endpoint.capture()
  const second = await endpoint.capture()
  for (let n = 0; n < 4; n += 1) await endpoint.send()
  expect((await rowsOf(idle, endpoint.id)).requests).toBe(6)
  await sweepRetentionNow(idle.running.services, never())
  expect(await rowsOf(idle, endpoint.id)).toMatchObject({ requests: 4, deliveries: 4, attempts: 2 })
  await expectCountersEqualRows(idle, endpoint.id)
  const { items } = await alice.expect(alice.get(endpoint.at('/deliveries')), Attempts)
  expect(items.map(({ requestId, state, error }) => [requestId, state, error])).toEqual([
    [second.id, 'DeadLetter', 'evicted'],
    [first.id, 'DeadLetter', 'evicted'],
  ])
})

test.each([
  ['past their retention', 'solo', DAY + MINUTE],
  ['that wait for their deliveries', 'pro', 0],
] as const)(
  'the sweep of requests %s waits for the counters before it takes deliveries, as erasures do',
  async (_which, plan, age) => {
    const { db, clock, running } = idle
    const endpoint = await (await idle.newClient(plan)).endpoint({ forwardUrl: (await receiver()).url })
    for (let n = 0; n < 6; n += 1) await endpoint.send()
    await clock.advance(age)
    await using other = holdOpen(db, (trx) =>
      sql`select from endpoint_counters where endpoint_id = ${endpoint.id} for update`.execute(trx),
    )
    await other.isOpen
    const swept = sweepRetentionNow(running.services, never())
    await eventually('the sweep waits', () => isWaitingForLock(db))
    const free =
      sql`select from deliveries where endpoint_id = ${endpoint.id} for update skip locked`.execute(db)
    expect((await free).rows).toHaveLength(6)
    await other.release()
    await swept
    expect((await rowsOf(idle, endpoint.id)).deliveries).toBe(plan === 'solo' ? 0 : 4)
  },
)

describe('endpoints', () => {
  test('an expired one is read for 15 minutes more, then deleted with all it held', async () => {
    const alice = await service.newClient()
    const endpoint = await alice.endpoint({ ttlSeconds: 60, forwardUrl: (await receiver()).url })
    const { id } = await endpoint.capture()
    await alice.post('/api/v1/watchdogs', { endpointId: endpoint.id, expectedIntervalSeconds: 60 })
    expect((await alice.post(endpoint.at(`/requests/${id}/share-links`), {})).status).toBe(201)
    await service.clock.advance(MINUTE + 1000)
    expect((await endpoint.send()).status).toBe(404)
    await service.clock.advance(14 * MINUTE)
    await sweepEndpoints(service)
    expect(await endpoint.requests()).toHaveLength(1)

    await service.clock.advance(MINUTE)
    await sweepEndpoints(service)
    expect((await alice.get(endpoint.at(''))).status).toBe(404)
    expect((await rowsOf(service, endpoint.id)).requests).toBe(0)
    await service.clock.advance(3 * MINUTE)
    await sweepEndpoints(service)
    expect(await rowsOf(service, endpoint.id)).toEqual(NOTHING)
  })

  test('a deleted one is gone at once, whatever it holds, and its rows go in batches', async () => {
    const { alice } = idle
    const endpoint = await alice.endpoint({ forwardUrl: (await receiver()).url })
    await Promise.all(Array.from({ length: 1200 }, () => endpoint.send().then((sent) => sent.body?.cancel())))
    expect((await alice.delete(endpoint.at(''))).status).toBe(204)
    expect((await endpoint.send()).status).toBe(404)
    expect((await alice.get(endpoint.at('/requests'))).status).toBe(404)

    // Interrupted after one batch, and resumed.
    const cut = new AbortController()
    const sweeping = sweepEndpointsNow(idle.running.services, cut.signal)
    cut.abort()
    await sweeping
    await idle.clock.advance(3 * MINUTE)
    await Promise.all([1, 2].map(() => sweepEndpointsNow(idle.running.services, never())))
    expect(await rowsOf(idle, endpoint.id)).toEqual(NOTHING)
  })
})

test('several workers sweep at once while captures arrive, and the counters stay right', async () => {
  const alice = await idle.newClient('solo')
  const endpoint = await alice.endpoint()
  const burst = (count: number) =>
    Promise.all(Array.from({ length: count }, () => endpoint.send().then((sent) => sent.body?.cancel())))
  await burst(1200)
  await alice.post(endpoint.at('/requests/bulk-delete'), {
    requestIds: (await endpoint.requests()).map(({ id }) => id),
  })
  await idle.clock.advance(DAY + MINUTE)
  const sweep = () => sweepRetentionNow(idle.running.services, never())
  await Promise.all([sweep(), sweep(), sweep(), burst(200)])
  await sweep()
  expect((await rowsOf(idle, endpoint.id)).requests).toBe(200)
  await expectCountersEqualRows(idle, endpoint.id)
})

describe('a request that cannot be deleted keeps no others', () => {
  const count = async (endpointId: string) => (await rowsOf(idle, endpointId)).requests

  test('past the retention of their plan', async () => {
    const client = await idle.newClient('solo')
    const endpoints = [await client.endpoint(), await client.endpoint()].toSorted((a, b) =>
      a.id < b.id ? -1 : 1,
    )
    const [broken, whole] = endpoints.map(({ id }) => id)
    for (const endpoint of endpoints) await endpoint.send()
    await idle.clock.advance(2 * DAY)
    await whileBroken(idle, [broken ?? ''], `raise 'missing chunk'`, async () => {
      const failure = await sweepRetentionNow(idle.running.services, never()).catch(String)
      expect(failure).toContain('missing chunk')
      expect(await count(whole ?? '')).toBe(0)
      expect(await count(broken ?? '')).toBe(1)
    })
    await sweepRetentionNow(idle.running.services, never())
    expect(await count(broken ?? '')).toBe(0)
  })

  test('of deleted endpoints', async () => {
    const client = await idle.newClient('solo')
    const [broken, whole] = [await client.endpoint(), await client.endpoint()]
    for (const endpoint of [broken, whole]) {
      await endpoint.send()
      await client.delete(endpoint.at(''))
      await idle.clock.advance(5 * MINUTE)
    }
    await whileBroken(idle, [broken.id], `raise 'missing chunk'`, async () => {
      const failure = await sweepEndpointsNow(idle.running.services, never()).catch(String)
      expect(failure).toContain('missing chunk')
      expect(await rowsOf(idle, whole.id)).toEqual(NOTHING)
    })
    await sweepEndpointsNow(idle.running.services, never())
    expect(await rowsOf(idle, broken.id)).toEqual(NOTHING)
  })
})

test('an endpoint with endlessly many old requests keeps no others from the sweep', async () => {
  const client = await idle.newClient('solo')
  const [endless, other] = [await client.endpoint(), await client.endpoint()].toSorted((a, b) =>
    a.id < b.id ? -1 : 1,
  )
  if (endless === undefined || other === undefined) throw new Error('no endpoints')
  for (const endpoint of [endless, other]) await endpoint.send()
  await idle.clock.advance(2 * DAY)
  const stopping = new AbortController()
  await whileBroken(idle, [endless.id], 'return null', async () => {
    const sweeping = sweepRetentionNow(idle.running.services, stopping.signal)
    await eventually('the sweep of the other', async () => (await rowsOf(idle, other.id)).requests === 0)
    stopping.abort()
    await sweeping
  })
})

test('windows of keys that rest are forgotten', async () => {
  const client = await service.newClient()
  await client.get('/api/v1/me')
  const windows = () =>
    service.db.selectFrom('apiKeyWindows').where('apiKeyId', '=', client.keyId).select('apiKeyId').execute()
  expect(await windows()).toHaveLength(1)
  await service.clock.advance(2 * 3_600_000)
  await sweepRetention(service)
  expect(await windows()).toHaveLength(0)
})

test('replays that listeners were asked for are forgotten, also of an endpoint that nobody asks again', async () => {
  const endpoint = await (await service.newClient()).endpoint()
  const { id: requestId } = await endpoint.capture()
  const asked = { endpointId: endpoint.id, requestId, createdAt: await service.clock.now() }
  await service.db.insertInto('listenerReplays').values(asked).execute()
  const held = () =>
    service.db.selectFrom('listenerReplays').where('endpointId', '=', endpoint.id).select('id').execute()
  await sweepRetention(service)
  expect(await held()).toHaveLength(1)
  await service.clock.advance(11 * MINUTE)
  await sweepRetention(service)
  expect(await held()).toHaveLength(0)
})

test('browsers and links that have ended are forgotten, and the others are not', async () => {
  const client = await service.newClient()
  const { workspaceId } = client
  const held = async () => {
    const of = async (table: 'sessions' | 'signInLinks' | 'shareLinks') =>
      (
        await service.db
          .selectFrom(table)
          .where('workspaceId', '=', workspaceId)
          .select('workspaceId')
          .execute()
      ).length
    return { sessions: await of('sessions'), links: await of('signInLinks'), shared: await of('shareLinks') }
  }
  const made = await client.expect(
    client.post('/api/v1/keys', { name: 'revoked' }),
    z.looseObject({ id: z.string(), key: z.string() }),
  )
  for (const key of [client.key, made.key])
    expect((await new TestBrowser(service).signIn({ key })).status).toBe(204)
  await service.operator.sessions.link({ workspace: workspaceId })
  const endpoint = await client.endpoint()
  const { id } = await endpoint.capture()
  const share = (expiresInSeconds: number) =>
    client.post(endpoint.at(`/requests/${id}/share-links`), { expiresInSeconds })
  for (const seconds of [60, 86_400]) expect((await share(seconds)).status).toBe(201)
  await sweepRetention(service)
  expect(await held()).toEqual({ sessions: 2, links: 1, shared: 2 })
  await client.delete(`/api/v1/keys/${made.id}`)
  await service.clock.advance(3_600_000)
  await sweepRetention(service)
  expect(await held()).toEqual({ sessions: 1, links: 0, shared: 1 })
  await service.clock.advance(8 * DAY)
  await sweepRetention(service)
  expect(await held()).toEqual({ sessions: 0, links: 0, shared: 0 })
})
