import { beforeAll, expect, test } from 'bun:test'
import { REHEARSAL_SENDS } from '@creel/core/rehearsals'
import { sql } from 'kysely'
import { z } from 'zod'
import type { Client, TestEndpoint } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { type Received, type Receiver, startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Replays of many requests through an action that also has live deliveries. */

const Made = z.looseObject({ id: z.string() })
const Started = z.looseObject({ replay: z.looseObject({ id: z.string() }) })
const Run = z.looseObject({ state: z.string(), reason: z.string().nullable() })

let service: TestService
let alice: Client

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  ;({ alice } = service)
})

/** Attempts that the metrics count, by state. */
async function countedAttempts(): Promise<Record<string, number>> {
  const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text()
  const shown = metrics.matchAll(/^creel_delivery_attempts_total{state="(\w+)"} (\d+)$/gm)
  const counts = [...shown].map(([, state, count]) => [state, Number(count)] as const)
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

async function actionTo(endpoint: TestEndpoint, { url }: Receiver, delivery: object): Promise<string> {
  const action = { kind: 'forward', name: 'live', url, delivery }
  return (await alice.expect(alice.post(endpoint.at('/actions'), action), Made)).id
}

async function rehearse(endpoint: TestEndpoint, actionId: string, members: object): Promise<string> {
  const answer = alice.post(endpoint.at('/replays'), {
    to: { actionId },
    pace: { perSecond: 1000 },
    ...members,
  })
  return (await alice.expect(answer, Started)).replay.id
}

const ended = (endpoint: TestEndpoint, id: string) =>
  eventually('the end of the rehearsal', async () => {
    const run = await alice.expect(alice.get(endpoint.at(`/replays/${id}`)), Run)
    return ['done', 'failed'].includes(run.state) && run
  })

const isGuest = (request: Received) => request.header('creel-rehearsal') !== undefined

test('what a receiver answers to a rehearsal has no effect on live deliveries', async () => {
  let status = 500
  await using receiver = await startReceiver((request, response) => {
    if (isGuest(request)) response.writeHead(status, { 'Retry-After': '3600' })
    response.end()
  })
  const endpoint = await alice.endpoint()
  const captured = await endpoint.captureMany(4)
  const actionId = await actionTo(endpoint, receiver, {
    breaker: { failures: 3, windowSeconds: 60, probeEverySeconds: 3600 },
    gone: 'pause',
  })
  const select = { requestIds: captured.map(({ id }) => id) }
  const before = await countedAttempts()
  for (const answered of [500, 429, 410]) {
    status = answered
    const received = receiver.received.length
    expect((await ended(endpoint, await rehearse(endpoint, actionId, { select }))).state).toBe('done')
    expect(receiver.received.length).toBe(received + 4)
    await endpoint.capture()
    await eventually(
      `a live delivery after ${answered}`,
      () => receiver.received.slice(received).filter((one) => !isGuest(one)).length === 1,
    )
  }
  const Health = z.looseObject({ items: z.tuple([z.looseObject({ unfinished: z.int() })]) })
  const health = await eventually('the results of all deliveries', async () => {
    const { items } = await alice.expect(alice.get(endpoint.at('/actions/health')), Health)
    return items[0].unfinished === 0 && items[0]
  })
  expect(health).toMatchObject({ actionId, attempts: 3, succeeded: 3 })
  expect(await countedAttempts()).toEqual({ ...before, Succeeded: (before.Succeeded ?? 0) + 3 })
})

test('a rehearsal changes neither the state of a request nor the counts of its deliveries', async () => {
  let status = 200
  await using receiver = await startReceiver((_, response) => void response.writeHead(status).end())
  const endpoint = await alice.endpoint()
  const actionId = await actionTo(endpoint, receiver, {})
  const { id } = await endpoint.capture()
  const row = async () => (await endpoint.requests()).find((one) => one.id === id)
  const deliveries = async () => Object((await alice.get(endpoint.at(`/requests/${id}`))).body).deliveries
  const delivered = await eventually('the delivery', async () => {
    const one = await row()
    return one?.state === 'Succeeded' && one
  })
  const before = await deliveries()
  expect(before).toMatchObject([{ actionId, state: 'Succeeded', attemptCount: 1 }])
  status = 500
  const run = await rehearse(endpoint, actionId, { select: { requestIds: [id] } })
  expect((await ended(endpoint, run)).state).toBe('done')
  expect(await row()).toEqual(delivered)
  expect(await deliveries()).toEqual(before)
})

test('a rehearsal and live deliveries together keep the concurrency of the action', async () => {
  let [now, most, guests] = [0, 0, 0]
  await using receiver = await startReceiver(async (request, response) => {
    if (isGuest(request)) guests += 1
    now += 1
    most = Math.max(most, now)
    await Bun.sleep(5)
    now -= 1
    response.end()
  })
  const endpoint = await alice.endpoint()
  const captured = await endpoint.captureMany(20)
  const actionId = await actionTo(endpoint, receiver, { concurrency: 1 })
  const select = { requestIds: captured.map(({ id }) => id) }
  const id = await rehearse(endpoint, actionId, { select, concurrency: 8 })
  await endpoint.captureMany(20)
  expect((await ended(endpoint, id)).state).toBe('done')
  await receiver.take(40)
  expect([most, guests]).toEqual([1, 20])
})

test('a rehearsal that must wait for the deliveries of its action leaves its flow unlocked', async () => {
  await using receiver = await startReceiver()
  const own = await startService({ parts: ['gateway'], limits: { apiRatePerMinute: 100_000 } })
  const { alice: client, db, running } = own
  const endpoint = await client.endpoint()
  const captured = await endpoint.captureMany(4)
  const action = { kind: 'forward', url: receiver.url, delivery: { concurrency: 8 } }
  const { id: actionId } = await client.expect(client.post(endpoint.at('/actions'), action), Made)
  const { id } = await client.expect(
    client.post(endpoint.at('/replays'), {
      select: { requestIds: captured.map((one) => one.id) },
      to: { actionId },
      concurrency: 4,
    }),
    Started.transform(({ replay }) => replay),
  )
  const look = () =>
    db.transaction().execute(async (trx) => {
      const lane = { id, workspaceId: client.workspaceId }
      const { sends } = await REHEARSAL_SENDS.look(running.services, trx, lane, { slots: 16, leadMs: 0 })
      const { rows } = await sql`select from pg_locks l join pg_class c on c.oid = l.relation
        where l.pid = pg_backend_pid() and c.relname = 'action_flows' and l.mode = 'RowShareLock'`.execute(
        trx,
      )
      return [sends.length > 0, rows.length > 0]
    })
  await endpoint.capture()
  expect(await look()).toEqual([false, false])
  await sql`delete from deliveries where action_id = ${actionId}`.execute(db)
  expect(await look()).toEqual([true, true])
  await own.stop()
})

test('starts of a rehearsal that are due later than the pace keep it, and so does what follows them', async () => {
  await using receiver = await startReceiver()
  const own = await startService({ parts: ['gateway'], limits: { apiRatePerMinute: 100_000 } })
  const { alice: client, db, running } = own
  const endpoint = await client.endpoint()
  const captured = await endpoint.captureMany(4)
  // The first is due at once, and the others before the end of what a look claims, 10 ms apart.
  await sql`update requests set received_at = now()
    + (case when id = ${captured[0]?.id} then 0 else 80 end) * interval '1 ms'`.execute(db)
  const action = { kind: 'forward', url: receiver.url, delivery: { rate: { count: 100, perSeconds: 1 } } }
  const { id: actionId } = await client.expect(client.post(endpoint.at('/actions'), action), Made)
  const select = { requestIds: captured.map((one) => one.id) }
  const started = client.post(endpoint.at('/replays'), {
    select,
    to: { actionId },
    pace: { speed: 1 },
    concurrency: 4,
  })
  const { id } = await client.expect(
    started,
    Started.transform(({ replay }) => replay),
  )
  // It begins with the look.
  await sql`update replays set base_at = null where id = ${id}`.execute(db)
  const { sends } = await db.transaction().execute((trx) => {
    const lane = { id, workspaceId: client.workspaceId }
    return REHEARSAL_SENDS.look(running.services, trx, lane, { slots: 16, leadMs: 0 })
  })
  const flow = await db.selectFrom('actionFlows').select('nextStartAt').executeTakeFirstOrThrow()
  const starts = [...sends.map(({ start }) => start?.at ?? 0), flow.nextStartAt?.getTime() ?? 0]
  expect(sends).toHaveLength(4)
  // The database has whole milliseconds.
  for (const [index, at] of starts.slice(1).entries())
    expect(at - (starts[index] ?? 0)).toBeGreaterThan(1000 / 100 - 1)
  await own.stop()
})

test('a paused action takes no rehearsal', async () => {
  await using receiver = await startReceiver()
  const endpoint = await alice.endpoint()
  const { id: requestId } = await endpoint.capture()
  const actionId = await actionTo(endpoint, receiver, {})
  await alice.post(endpoint.at(`/actions/${actionId}/pause`))
  const refused = await alice.post(endpoint.at('/replays'), {
    select: { requestIds: [requestId] },
    to: { actionId },
  })
  expect(refused.status).toBe(400)
  expect(JSON.stringify(refused.body)).toContain('/to/actionId')
  expect(receiver.received).toEqual([])
})

test.each([
  ['paused', 'action_paused', (at: string) => alice.post(`${at}/pause`)],
  ['switched off', 'action_off', (at: string) => alice.put(at, { isActive: false })],
  ['deleted', 'action_off', (at: string) => alice.delete(at)],
])(
  'a rehearsal whose action is %s meanwhile has failed, and says what it has not sent',
  async (_, reason, change) => {
    const answered = Promise.withResolvers<void>()
    await using receiver = await startReceiver(async (_request, response) => {
      await answered.promise
      response.end()
    })
    const endpoint = await alice.endpoint()
    const captured = await endpoint.captureMany(4)
    const actionId = await actionTo(endpoint, receiver, { concurrency: 2 })
    const id = await rehearse(endpoint, actionId, { select: { requestIds: captured.map((one) => one.id) } })
    await receiver.take(1)
    expect((await change(endpoint.at(`/actions/${actionId}`))).status).toBeLessThan(300)
    answered.resolve()
    expect(await ended(endpoint, id)).toMatchObject({
      state: 'failed',
      reason,
      counts: { sends: 4, done: 1, waiting: 3 },
    })
    expect(receiver.received.length).toBe(1)
  },
)
