import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { createMCPClient, experimental_createMCPEventWebhook as createWebhook } from '@ai-sdk/mcp'
import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { z } from 'zod'
import type { Client, TestEndpoint } from '../support/client.ts'
import { startEcho } from '../support/echo.ts'
import { memoryStore } from '../support/eventStore.ts'
import { eventually } from '../support/eventually.ts'
import { isWaitingForLock } from '../support/lockWaits.ts'
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/** Subscriptions of callbacks to events, over `/mcp`, the REST API, and a client of the AI SDK. */

let service: TestService

beforeAll(async () => {
  service = await startService({
    limits: { apiRatePerMinute: 100_000, eventsPerMinuteMax: 40, storedRequestsMax: 60 },
  })
})

afterAll(() => service.stop())

const EXTENSION = 'io.modelcontextprotocol/events'
const newSecret = (bytes = 32) => `whsec_${randomBytes(bytes).toString('base64')}`

/** A call over the wire, by a client of the new revision. */
async function raw(
  method: string,
  params: object,
  { extensions = {}, key = service.alice.key, query = '' } = {},
) {
  const answer = await fetch(`${service.baseUrl}/mcp${query}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': { extensions },
        },
      },
    }),
  })
  expect(answer.status).toBeLessThan(500)
  return z
    .looseObject({ result: z.unknown(), error: z.unknown() })
    .partial()
    .parse(await answer.json())
}

const Subscribed = z.looseObject({ id: z.string(), refreshBefore: z.string(), cursor: z.string() })

async function subscribe(params: object, options: Parameters<typeof raw>[2] = {}) {
  const { result, error } = await raw('events/subscribe', params, options)
  expect(error).toBeUndefined()
  return Subscribed.parse(result)
}

const Body = z.looseObject({
  type: z.string().optional(),
  challenge: z.string().optional(),
  eventId: z.string().optional(),
  cursor: z.string().optional(),
})
const bodyOf = ({ body }: Received) => Body.parse(JSON.parse(body.toString()))

/** Waits until expectations hold. */
async function soon(check: () => unknown, seconds?: number): Promise<void> {
  const isMet = async () => {
    try {
      await check()
      return true
    } catch {
      return false
    }
  }
  await eventually('what is expected', isMet, seconds === undefined ? {} : { seconds }).catch(() => check())
}

const idsAt = ({ received }: Receiver) => received.flatMap((one) => bodyOf(one).eventId ?? [])
const typesAt = ({ received }: Receiver) => received.flatMap((one) => bodyOf(one).type ?? [])

/** An endpoint whose event type exists. */
async function source(client: Client, name: string): Promise<TestEndpoint> {
  const endpoint = await client.endpoint({ name })
  await client.expect(client.get('/api/v1/events/types'), z.looseObject({}))
  return endpoint
}

async function keyOf(client: Client, scope = 'write'): Promise<{ key: string; id: string }> {
  const Made = z.looseObject({ key: z.string(), id: z.string() })
  return await client.expect(client.post('/api/v1/keys', { name: 'agent', scope }), Made)
}

const deliveryTo = (callback: Receiver, secret = newSecret()) => ({
  mode: 'webhook',
  url: callback.url,
  secret,
})

test('the client of the AI SDK lists, subscribes, verifies and receives', async () => {
  const endpoint = await source(service.alice, 'sdk')
  const store = memoryStore()
  const seen: unknown[] = []
  const arrived = Promise.withResolvers<void>()
  const webhook = createWebhook({
    store,
    onEvent: async ({ event }) => {
      seen.push(event)
      arrived.resolve()
    },
  })
  const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => webhook(request) })
  const url = `http://127.0.0.1:${receiver.port}/hooks`
  const client = await createMCPClient({
    transport: {
      type: 'http',
      url: `${service.baseUrl}/mcp`,
      headers: { Authorization: `Bearer ${service.alice.key}` },
    },
    experimental_events: { store },
  })
  const events = client.experimental_events
  expect((await events.list()).events.find(({ name }) => name === 'sdk.any')?.delivery).toContain('webhook')
  const subscription = await events.subscribe({
    name: 'sdk.any',
    arguments: { where: [{ path: 'body.amount', op: 'gt', value: 100 }] },
    delivery: { mode: 'webhook', url, allowInsecureLocalhost: true },
    ttlMs: 600_000,
  })
  await endpoint.capture({ body: '{"amount":5}' })
  const { id } = await endpoint.capture({ body: '{"amount":500}' })
  await arrived.promise
  expect(seen).toMatchObject([{ eventId: `req_${id}`, name: 'sdk.any', data: { requestId: id } }])
  await events.refresh({ id: subscription.id })
  await events.unsubscribe({ id: subscription.id })
  await client.close()
  await receiver.stop(true)
})

test('every event arrives signed, by both secrets while they change, and a refresh moves nothing back', async () => {
  const endpoint = await source(service.alice, 'signed')
  await using callback = await startEcho()
  const [first, second] = [newSecret(), newSecret()]
  const wanted = { name: 'signed.any', arguments: { fields: ['body.token', 'body.a', 'body.long'] } }
  const made = await subscribe({ ...wanted, cursor: null, delivery: deliveryTo(callback, first) })
  const one = await endpoint.capture({ body: '{"token":"opens-doors","a":1,"long":9007199254740993}' })
  await soon(() => expect(idsAt(callback)).toEqual([`req_${one.id}`]))
  const [, sent] = callback.received
  const headers = Object.fromEntries(
    (sent?.rawHeaders ?? []).map(([name, value]) => [name.toLowerCase(), value]),
  )
  new Webhook(first).verify(sent?.body.toString() ?? '', headers)
  expect(headers['webhook-id']).toBe(`req_${one.id}`)
  expect(headers['x-mcp-subscription-id']).toBe(made.id)
  expect(sent?.body.toString()).not.toContain('opens-doors')
  expect(JSON.parse(sent?.body.toString() ?? '')).toMatchObject({
    name: 'signed.any',
    data: {
      requestId: one.id,
      fields: { 'body.token': '***', 'body.a': 1, 'body.long': '9007199254740993' },
    },
    cursor: String(one.id - 1),
  })
  // The cursor of a refresh is ignored: the position stays, and the callback is not checked again.
  const again = await subscribe({ ...wanted, cursor: '0', delivery: deliveryTo(callback, second) })
  expect([again.id, again.cursor]).toEqual([made.id, String(one.id)])
  const two = await endpoint.capture()
  await soon(() => expect(idsAt(callback)).toEqual([`req_${one.id}`, `req_${two.id}`]))
  expect(typesAt(callback)).toEqual(['verification'])
  const last = callback.received.at(-1)
  const lastHeaders = Object.fromEntries(
    (last?.rawHeaders ?? []).map(([name, value]) => [name.toLowerCase(), value]),
  )
  for (const secret of [first, second]) new Webhook(secret).verify(last?.body.toString() ?? '', lastHeaders)
  // The callback has the event before it is recorded.
  const show = () => service.alice.get(`/api/v1/subscriptions/${made.id}`)
  await soon(async () => expect((await show()).body).toMatchObject({ sentCount: 2 }))
  const shown = await show()
  expect(shown.body).toMatchObject({ host: new URL(callback.url).host, status: { active: true } })
  expect(JSON.stringify(shown.body)).not.toContain('/hooks')
  // Another workspace sees nothing of it.
  expect((await service.charlie.get(`/api/v1/subscriptions/${made.id}`)).status).toBe(404)
  const { id: _id, ...parts } = { id: made.id, ...wanted }
  expect(
    (await raw('events/unsubscribe', { ...parts, delivery: { url: callback.url } })).result,
  ).toBeDefined()
  expect((await service.alice.get(`/api/v1/subscriptions/${made.id}`)).status).toBe(404)
})

test('an event that fails is tried again, and given up at 410; the others pass it', async () => {
  const endpoint = await source(service.alice, 'failing')
  const statuses = [500, 410]
  await using callback = await startEcho(() => statuses.shift() ?? 200)
  const { id } = await subscribe({ name: 'failing.any', cursor: null, delivery: deliveryTo(callback) })
  const first = await endpoint.capture()
  const shown = async () => (await service.alice.get(`/api/v1/subscriptions/${id}`)).body
  await soon(async () =>
    expect(await shown()).toMatchObject({
      status: { active: false, lastError: 'http_5xx' },
      waitingCount: 1,
    }),
  )
  // The watermark stays before the event that waits.
  expect(await shown()).toMatchObject({ cursor: String(first.id - 1) })
  await service.clock.advance(40_000)
  await soon(async () => expect(await shown()).toMatchObject({ failedCount: 1, cursor: String(first.id) }))
  const next = await endpoint.capture()
  await soon(() => expect(idsAt(callback).at(-1)).toBe(`req_${next.id}`))
  await soon(async () =>
    expect(await shown()).toMatchObject({
      status: { active: true, lastError: null },
      deliveries: [
        { state: 'sent', attempts: [{ statusCode: 200 }] },
        { state: 'failed', attempts: [{ statusCode: 500 }, { statusCode: 410 }] },
      ],
    }),
  )
})

test('the limit of events a minute throttles, and what was removed meanwhile is a gap', async () => {
  const endpoint = await source(service.charlie, 'busy')
  await using callback = await startEcho()
  const options = { extensions: { [EXTENSION]: {} }, key: service.charlie.key }
  const wanted = { name: 'busy.any', delivery: deliveryTo(callback) }
  const { id } = await subscribe({ ...wanted, cursor: null }, options)
  const requests = await endpoint.captureMany(45)
  const known = requests.map((request) => request.id).sort((one, other) => one - other)
  await soon(() =>
    expect(idsAt(callback).toSorted()).toEqual(
      known
        .slice(0, 40)
        .map((one) => `req_${one}`)
        .toSorted(),
    ),
  )
  const shown = async () => (await service.charlie.get(`/api/v1/subscriptions/${id}`)).body
  expect(await shown()).toMatchObject({ status: { throttled: true } })
  await endpoint.captureMany(60)
  await service.clock.advance(61_000)
  const last = await endpoint.capture()
  await soon(() => expect(typesAt(callback)).toContain('gap'))
  expect(await subscribe({ ...wanted, cursor: null }, options)).toMatchObject({ truncated: true })
  expect(last.id).toBeGreaterThan(0)
})

describe('a subscription ends', () => {
  test('within 5 s of the end of its key, and goes on with the key that replaced it', async () => {
    const endpoint = await source(service.alice, 'ending')
    await using callback = await startEcho()
    const old = await keyOf(service.alice)
    const options = { key: old.key, extensions: { [EXTENSION]: {} } }
    const wanted = { name: 'ending.any', delivery: deliveryTo(callback) }
    const { id } = await subscribe({ ...wanted, cursor: null }, options)
    const Made = z.looseObject({ key: z.string(), id: z.string() })
    const rotated = await service.alice.expect(
      service.alice.post(`/api/v1/keys/${old.id}/rotate`, { overlapSeconds: 0 }),
      Made,
    )
    const one = await endpoint.capture()
    await soon(() => expect(idsAt(callback)).toEqual([`req_${one.id}`]))
    // Its first key tells the subscription apart, also when a thousand others have ended since.
    await service.db
      .insertInto('apiKeys')
      .columns(['id', 'workspaceId', 'name', 'prefix', 'sha256', 'createdAt', 'revokedAt'])
      .expression(
        sql`select gen_random_uuid(), ${service.alice.workspaceId}::uuid, 'ended', 'ended', sha256(n::text::bytea), at, at
          from generate_series(1, 1500) n cross join (select ${service.clock.now()}::timestamptz as at) a`,
      )
      .execute()
    await keyOf(service.alice)
    const again = await subscribe({ ...wanted, cursor: null }, { ...options, key: rotated.key })
    expect(again.id).toBe(id)
    const askedAt = performance.now()
    await service.alice.delete(`/api/v1/keys/${rotated.id}`)
    const callSeconds = (performance.now() - askedAt) / 1000
    // A machine on which calls take long needs longer for the look, too.
    await soon(
      async () => expect((await service.alice.get(`/api/v1/subscriptions/${id}`)).status).toBe(404),
      5 + 50 * callSeconds,
    )
    await soon(() => expect(typesAt(callback)).toContain('terminated'))
    await endpoint.capture()
    expect(idsAt(callback)).toEqual([`req_${one.id}`])
  })

  test('with its endpoint, and when it expires', async () => {
    const [deleted, expired] = [
      await source(service.alice, 'deleted'),
      await source(service.alice, 'expired'),
    ]
    await using callback = await startEcho()
    const to = deliveryTo(callback)
    const one = await subscribe({ name: 'deleted.any', cursor: null, delivery: to })
    const other = await subscribe({ name: 'expired.any', cursor: null, delivery: to, ttlMs: 1 })
    expect(Date.parse(other.refreshBefore) - service.clock.now().getTime()).toBeGreaterThan(290_000)
    await service.alice.delete(`/api/v1/endpoints/${deleted.id}`)
    await service.clock.advance(301_000)
    await soon(async () => {
      const { rows } = { rows: await service.db.selectFrom('eventSubscriptions').select('id').execute() }
      const ids = rows.map(({ id }) => id)
      expect([ids.includes(one.id), ids.includes(other.id)]).toEqual([false, false])
    })
    await expired.capture()
    expect(idsAt(callback)).toEqual([])
  })

  test('but not with its plan: it rests, and goes on with a plan that has subscriptions', async () => {
    const client = await service.newClient('team')
    const setPlan = (plan: 'free' | 'team') =>
      service.operator.workspaces.setPlan({ workspace: client.workspaceId, plan })
    const endpoint = await source(client, 'resting')
    const passing = await source(client, 'passing')
    await using callback = await startEcho()
    const wanted = { cursor: null, delivery: deliveryTo(callback) }
    const { id } = await subscribe({ ...wanted, name: 'resting.any' }, { key: client.key })
    const other = await subscribe({ ...wanted, name: 'passing.any' }, { key: client.key })
    await client.delete(`/api/v1/endpoints/${passing.id}`)
    await setPlan('free')
    const ids = async () =>
      (await service.db.selectFrom('eventSubscriptions').select('id').execute()).map((row) => row.id)
    await soon(async () => expect(await ids()).not.toContain(other.id))
    expect((await endpoint.send()).status).toBe(200)
    // Two looks pass over.
    await Bun.sleep(1000)
    expect([(await ids()).includes(id), idsAt(callback)]).toEqual([true, []])
    await setPlan('team')
    await soon(() => expect(idsAt(callback)).toHaveLength(1))
  })

  test('but not if it is refreshed while the sweep comes to it', async () => {
    await source(service.alice, 'refreshed')
    await using callback = await startEcho()
    const { id } = await subscribe({ name: 'refreshed.any', delivery: deliveryTo(callback), ttlMs: 1 })
    await service.db.transaction().execute(async (trx) => {
      await sql`select from event_subscriptions where id = ${id} for update`.execute(trx)
      await service.clock.advance(301_000)
      await eventually('the sweep waits', () => isWaitingForLock(service.db))
      const expiresAt = new Date(service.clock.now().getTime() + 600_000)
      await trx.updateTable('eventSubscriptions').set({ expiresAt }).where('id', '=', id).execute()
    })
    await eventually('the sweep goes on', async () => !(await isWaitingForLock(service.db)))
    const left = await service.db.selectFrom('eventSubscriptions').where('id', '=', id).select('id').execute()
    expect(left).toHaveLength(1)
  })
})

test('a callback that is captured by a Creel endpoint does not loop', async () => {
  const endpoint = await source(service.alice, 'loop')
  const own = { mode: 'webhook', url: endpoint.url, secret: newSecret() }
  const { error } = await raw('events/subscribe', { name: 'loop.any', cursor: null, delivery: own })
  expect(error).toMatchObject({ code: -32602 })
  // A callback elsewhere that passes on what it gets, with its headers, as a proxy does.
  await using callback = await startReceiver(async (request, response) => {
    const { challenge } = bodyOf(request)
    const headers = Object.fromEntries(
      request.rawHeaders.filter(([name]) => /^(creel|content-type)/i.test(name)),
    )
    if (challenge === undefined) await endpoint.send({ headers, body: request.body.toString() })
    response.writeHead(200)
    response.end(JSON.stringify({ challenge }))
  })
  await subscribe({ name: 'loop.any', cursor: null, delivery: deliveryTo(callback) })
  const first = await endpoint.capture()
  await soon(() => expect(idsAt(callback)).toEqual([`req_${first.id}`]))
  const marker = await endpoint.capture()
  await soon(() => expect(idsAt(callback)).toContain(`req_${marker.id}`))
  expect(idsAt(callback)).toEqual([`req_${first.id}`, `req_${marker.id}`])
})

describe('bad input', () => {
  const EXTENDED = { [EXTENSION]: {} }
  const good = { name: 'bad.any', cursor: null }
  const to = { mode: 'webhook', url: 'https://127.0.0.1:1/x', secret: newSecret() }
  const cases: readonly [string, string, object, object, number][] = [
    ['an unknown type', 'events/subscribe', { name: 'no.such', delivery: to }, EXTENDED, -32023],
    ['another mode', 'events/subscribe', { ...good, delivery: { ...to, mode: 'queue' } }, {}, -32014],
    [
      'another mode of a declarer',
      'events/subscribe',
      { ...good, delivery: { ...to, mode: 'x' } },
      EXTENDED,
      -32026,
    ],
    [
      'a short secret',
      'events/subscribe',
      { ...good, delivery: { ...to, secret: newSecret(16) } },
      {},
      -32602,
    ],
    [
      'a secret without its prefix',
      'events/subscribe',
      { ...good, delivery: { ...to, secret: newSecret().slice('whsec_'.length) } },
      {},
      -32602,
    ],
    ['no secret', 'events/subscribe', { ...good, delivery: { mode: 'webhook', url: to.url } }, {}, -32602],
    ['no delivery', 'events/subscribe', good, {}, -32602],
    ['a URL that is none', 'events/subscribe', { ...good, delivery: { ...to, url: 'ftp://x' } }, {}, -32602],
    [
      'a private address',
      'events/subscribe',
      { ...good, delivery: { ...to, url: 'https://10.0.0.1/' } },
      {},
      -32602,
    ],
    ['a callback that is not there', 'events/subscribe', { ...good, delivery: to }, {}, -32015],
    ['the same of a declarer', 'events/subscribe', { ...good, delivery: to }, EXTENDED, -32027],
    ['a wrong TTL', 'events/subscribe', { ...good, delivery: to, ttlMs: -1 }, {}, -32602],
    ['a wrong argument', 'events/subscribe', { ...good, delivery: to, arguments: { x: 1 } }, {}, -32602],
    ['an end of nothing, of a declarer', 'events/unsubscribe', { ...good, delivery: to }, EXTENDED, -32023],
  ]
  test.each(cases)('%s gets the code of the protocol', async (_what, method, params, extensions, code) => {
    await source(service.alice, 'bad')
    expect((await raw(method, params, { extensions })).error).toMatchObject({ code })
  })

  test('every wrong part is named at once', async () => {
    const wrong = { name: 5, maxAgeMs: 'x', delivery: { mode: 'webhook', url: 'ftp://x', secret: 'y' } }
    const { error } = await raw('events/subscribe', wrong)
    const named = ['#/name', '#/maxAgeMs', '#/delivery/url', '#/delivery/secret']
    expect(error).toMatchObject({
      code: -32602,
      data: { errors: named.map((pointer) => expect.objectContaining({ pointer })) },
    })
  })

  test('a callback that does not repeat the challenge is refused, and sent nothing', async () => {
    const endpoint = await source(service.alice, 'unproven')
    await using callback = await startReceiver({ status: 200, body: '{"challenge":"wrong"}' })
    const { error } = await raw('events/subscribe', { name: 'unproven.any', delivery: deliveryTo(callback) })
    expect(error).toMatchObject({ code: -32015, data: { reason: 'challenge_failed' } })
    await endpoint.capture()
    expect(callback.received.length).toBe(1)
  })

  test('a key that may only read has no webhooks', async () => {
    const { key } = await keyOf(service.alice, 'read')
    const to = {
      name: 'bad.any',
      delivery: { mode: 'webhook', url: 'https://x.example/', secret: newSecret() },
    }
    expect((await raw('events/subscribe', to, { key })).error).toMatchObject({ code: -32601 })
    expect((await raw('events/subscribe', to, { query: '?readOnly=true' })).error).toMatchObject({
      code: -32601,
    })
    expect(JSON.stringify((await raw('events/list', {}, { key })).result)).not.toContain('webhook"')
  })

  test('ending nothing is no error for the others', async () => {
    const { result } = await raw('events/unsubscribe', { name: 'bad.any', delivery: { url: to.url } })
    expect(result).toBeDefined()
  })
})
