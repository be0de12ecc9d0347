import { beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes, randomUUID } from 'node:crypto'
import { alertSends, queueNotifies } from '@creel/core/alertChannels'
import { finishNotify } from '@creel/core/deliveries'
import { sql } from 'kysely'
import { z } from 'zod'
import type { Client } from '../support/client.ts'
import { startEcho } from '../support/echo.ts'
import { eventually } from '../support/eventually.ts'
import { isWaitingForLock } from '../support/lockWaits.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/** Guarantees of all sends that the scheduler makes: alerts, and events to callbacks. */

const Made = z.looseObject({ id: z.string() })
const Body = z.looseObject({
  challenge: z.string().optional(),
  eventId: z.string().optional(),
  event_kind: z.string().optional(),
  request_id: z.int().nullish(),
})
const bodiesAt = ({ received }: Receiver) =>
  received.map(({ body }) => Body.parse(JSON.parse(body.toString())))
const eventsAt = (receiver: Receiver) => bodiesAt(receiver).flatMap(({ eventId }) => eventId ?? [])
const alertsAt = (receiver: Receiver) => bodiesAt(receiver).flatMap((body) => body.event_kind ?? [])
/** Requests that notify actions have told of. A message is sent again when ten seconds have passed without an answer. */
const toldAt = (receiver: Receiver) =>
  new Set(
    bodiesAt(receiver).flatMap((body) =>
      body.event_kind === 'action.notify' ? (body.request_id ?? []) : [],
    ),
  )

/** Lanes of an attack that once held the alerts and the events of all workspaces. */
const CHANNELS = 5
const CALLBACKS = 60

let service: TestService

beforeAll(async () => {
  service = await startService({
    limits: {
      apiRatePerMinute: 100_000,
      captureRatePerMinute: 100_000,
      eventSubscriptionsMax: 100,
      eventsPerMinuteMax: 10_000,
    },
  })
})

interface Held extends Receiver {
  /** Kinds of the alerts that wait for their answers at the same time. */
  waiting(): readonly string[]
  release(): void
}

/** A receiver that repeats challenges, and answers events and alerts once it is released. */
async function startHeld(): Promise<Held> {
  const released = Promise.withResolvers<void>()
  const waiting = new Map<object, string>()
  const receiver = await startReceiver(async (request, response) => {
    const { challenge, event_kind: kind = '' } = Body.parse(JSON.parse(request.body.toString()))
    if (challenge === undefined) {
      waiting.set(response, kind)
      response.on('close', () => waiting.delete(response))
      await released.promise
    }
    response.writeHead(200).end(JSON.stringify({ challenge }))
  })
  return Object.assign(receiver, { waiting: () => [...waiting.values()], release: released.resolve })
}

async function subscribe(
  client: Client,
  name: string,
  callback: Receiver,
  fields?: string[],
): Promise<string> {
  const id = await subscribeOnly(client, name, callback, fields)
  await service.clock.advance(10_000)
  return id
}

/** Subscribes without a pause. The limit of new subscriptions a minute moves with the clock. */
async function subscribeOnly(
  client: Client,
  name: string,
  callback: Receiver,
  fields?: string[],
): Promise<string> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const delivery = { mode: 'webhook', url: callback.url, secret }
  const given = fields === undefined ? {} : { arguments: { fields } }
  const { id } = await client.expect(
    client.post('/api/v1/subscriptions', { name: `${name}.any`, delivery, ...given }),
    Made,
  )
  return id
}

async function source(client: Client, name: string) {
  const endpoint = await client.endpoint({ name })
  await client.expect(client.get('/api/v1/events/types'), z.looseObject({}))
  return endpoint
}

const channel = (client: Client, { url }: Pick<Receiver, 'url'>) =>
  client.expect(
    client.post('/api/v1/alert-channels', { kind: 'webhook', name: 'Hook', settings: { url } }),
    Made,
  )

/** Lets an alert happen: a delivery that its destination gives up at once. */
async function alarm(client: Client): Promise<void> {
  await using gone = await startReceiver({ status: 410 })
  const endpoint = await client.endpoint()
  await client.expect(client.post(endpoint.at('/actions'), { kind: 'forward', url: gone.url }), Made)
  await endpoint.capture()
  await gone.take(1)
}

const notify = (client: Client, endpoint: { at(path: string): string }, alertChannelId: string) =>
  client.expect(client.post(endpoint.at('/actions'), { kind: 'notify', name: 'Tell', alertChannelId }), Made)

const seal = (client: Client, until: string) =>
  sql`update workspaces set sealed_until = ${sql.raw(until)} where id = ${client.workspaceId}`.execute(
    service.db,
  )

describe('fair to every workspace', () => {
  test('an alarm does not wait for the notify actions of its own channel', async () => {
    await using held = await startHeld()
    const client = await service.newClient()
    const { id } = await channel(client, held)
    const endpoint = await client.endpoint()
    await notify(client, endpoint, id)
    await endpoint.captureMany(20)
    await held.take(6)
    await alarm(client)
    await eventually('the alarm', () => alertsAt(held).includes('delivery.parked'))
    expect(held.waiting().filter((kind) => kind === 'action.notify').length).toBeLessThanOrEqual(6)
    // Most of them have not been sent once: it went before them.
    expect(toldAt(held).size).toBeLessThan(20)
    held.release()
    await eventually('all messages', () => toldAt(held).size === 20)
  })

  test('channels and callbacks that do not answer hold up no alarm and no event of others', async () => {
    await using held = await startHeld()
    const attacker = await service.newClient()
    const attacked = await source(attacker, 'attacked')
    for (let at = 0; at < CHANNELS; at += 1) {
      const { id } = await channel(attacker, held)
      await notify(attacker, attacked, id)
    }
    for (let at = 0; at < CALLBACKS; at += 1) await subscribeOnly(attacker, 'attacked', held, [`body.f${at}`])
    await service.clock.advance(10_000)
    await attacked.captureMany(10)
    // 6 of each channel and 4 of each subscription are in flight, after a challenge of each.
    await held.take(CALLBACKS + CHANNELS * 6 + CALLBACKS * 4)

    const other = await service.newClient()
    await using alarms = await startReceiver()
    await using callback = await startEcho()
    await channel(other, alarms)
    const live = await source(other, 'live')
    await subscribe(other, 'live', callback)
    const { id } = await live.capture()
    await eventually('the event', () => eventsAt(callback).includes(`req_${id}`))
    await alarm(other)
    await eventually('the alarm', () => alertsAt(alarms).includes('delivery.parked'))
    // Every lane of the attack still has work.
    const { rows } = await sql<{ lanes: number }>`select
      (select count(distinct lane_id) from alert_deliveries
        where next_attempt_at is not null and workspace_id = ${attacker.workspaceId})::int +
      (select count(distinct subscription_id) from event_deliveries d join event_subscriptions s on s.id = subscription_id
        where d.state = 'waiting' and workspace_id = ${attacker.workspaceId})::int as lanes`.execute(
      service.db,
    )
    expect(rows[0]?.lanes).toBe(CHANNELS + CALLBACKS)
    // The rest of the attack would be under way during the next tests.
    await seal(attacker, "'infinity'")
    held.release()
  })
})

test('two processes that look at a channel at the same time keep its bound together', async () => {
  const { running, db, alice, stop } = await startService({ parts: ['gateway'] })
  const { services } = running
  const { id } = await channel(alice, { url: 'http://127.0.0.1:9/hook' })
  const lane = { id, workspaceId: alice.workspaceId }
  const message = {
    workspaceId: alice.workspaceId,
    subject: { id: randomUUID(), name: 'Tell' },
    endpoint: { id: randomUUID(), name: 'shop' },
    requestId: 1,
    channel: { id, name: 'Hook', kind: 'webhook' },
    reason: 'paid',
    sealing: null,
  } as const
  const queue = (count: number) =>
    db.transaction().execute(async (trx) => {
      const messages = Array.from({ length: count }, (_, index) => ({ ...message, attemptId: index + 1 }))
      await queueNotifies(services, trx, messages)
    })
  const { look } = alertSends(finishNotify)
  const room = { slots: 16, leadMs: 0 }
  const begun = (by: typeof db) =>
    by.transaction().execute(async (trx) => (await look(services, trx, lane, room)).sends.length)
  await queue(6)
  await db.transaction().execute(async (trx) => {
    const { sends } = await look(services, trx, lane, room)
    expect(sends.length).toBe(6)
    await queue(8)
    const ids = sends.map((send) => send.id)
    // Alarms, which go before the messages that the first look has claimed.
    await db.updateTable('alertDeliveries').set({ priority: 0 }).where('id', 'not in', ids).execute()
    expect(await begun(db)).toBe(0)
  })
  expect(await begun(db)).toBe(2)
  await stop()
})

describe('a workspace that is sealed for its move', () => {
  test('begins no send, and goes on afterwards', async () => {
    const client = await service.newClient()
    let status = 500
    await using callback = await startEcho(() => status)
    await using alarms = await startReceiver({ status: 500 })
    const { id: laneId } = await channel(client, alarms)
    const endpoint = await source(client, 'sealed')
    const subscriptionId = await subscribe(client, 'sealed', callback)
    const { id } = await endpoint.capture()
    await alarm(client)
    await alarms.take(1)
    await callback.take(2)
    await eventually('both results', async () => {
      const { rows } = await sql<{ left: number }>`select
        (select count(*) from alert_deliveries where leased_until is not null and lane_id = ${laneId})::int +
        (select count(*) from event_deliveries
          where leased_until is not null and subscription_id = ${subscriptionId})::int as left`.execute(
        service.db,
      )
      return rows[0]?.left === 0
    })
    await seal(client, "'infinity'")
    status = 200
    alarms.answer = { status: 200 }
    await service.clock.advance(40_000)
    const { workspaceId } = client
    await service.runJob('alerts.lanes', { laneId, workspaceId })
    await service.runJob('subscriptions.lanes', { laneId: subscriptionId, workspaceId })
    expect([alarms.received.length, callback.received.length]).toEqual([1, 2])
    await seal(client, 'null')
    await alarms.take(2)
    await callback.take(3)
    expect(eventsAt(callback)).toEqual([`req_${id}`, `req_${id}`])
  })
})

test('events of a burst arrive one after the other without further captures', async () => {
  const client = await service.newClient()
  await using callback = await startEcho()
  const endpoint = await source(client, 'burst')
  await subscribe(client, 'burst', callback)
  const begunAt = performance.now()
  const captured = await endpoint.captureMany(250)
  // Readers that rest between their looks would take ten seconds on any machine.
  const seconds = 8 + (8 * (performance.now() - begunAt)) / 1000
  await eventually('all events', () => new Set(eventsAt(callback)).size === 250, { seconds })
  expect([...new Set(eventsAt(callback))].toSorted()).toEqual(
    captured.map(({ id }) => `req_${id}`).toSorted(),
  )
})

test('a subscription ends while a result of it is recorded, and neither is in the way of the other', async () => {
  const client = await service.newClient()
  await using held = await startHeld()
  const endpoint = await source(client, 'ending')
  const id = await subscribe(client, 'ending', held)
  await endpoint.capture()
  await held.take(2)
  await service.db.transaction().execute(async (trx) => {
    await sql`select id from event_subscriptions where id = ${id} for update`.execute(trx)
    held.release()
    await eventually('a result that waits', () => isWaitingForLock(service.db))
    await sql`delete from event_subscriptions where id = ${id}`.execute(trx)
  })
  expect((await client.get(`/api/v1/subscriptions/${id}`)).status).toBe(404)
})

test('a stop waits for sends that end, and no longer than for them', async () => {
  const service = await startService({ limits: { captureRatePerMinute: 100_000 } })
  const client = service.alice
  await using held = await startHeld()
  await channel(client, held)
  await alarm(client)
  await held.take(1)
  const stopping = service.running.stop()
  held.release()
  const startedAt = performance.now()
  await stopping
  // The grace of a stop is 20 s.
  expect(performance.now() - startedAt).toBeLessThan(20_000)
  await service.stop()
})

test('a stop waits for no receiver without an answer, and the send is made again', async () => {
  await using held = await startHeld()
  const first = await startService()
  const client = first.alice
  await channel(client, held)
  await alarm(client)
  await held.take(1)
  await first.running.stop()
  const second = await startService({
    database: first.database,
    clock: first.clock,
    secretKey: first.secretKey,
  })
  // The first one holds the send until its lease ends.
  await first.clock.advance(31_000)
  await held.take(2)
  held.release()
  await eventually('the end of the send', async () => {
    const row = await second.db.selectFrom('alertDeliveries').select('outcome').executeTakeFirst()
    return row?.outcome === 'delivered'
  })
  await second.stop()
})
