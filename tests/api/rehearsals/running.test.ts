import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { eventually } from '../../support/eventually.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Replays that are stopped in the middle, and what goes on beside them. */

const Run = z.looseObject({
  id: z.string(),
  state: z.string(),
  counts: z.looseObject({ sends: z.int(), waiting: z.int(), done: z.int(), errored: z.int() }),
})
const Started = z.looseObject({ replay: Run })

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
})

afterAll(async () => {
  await service.stop()
})

async function captured(count: number) {
  const endpoint = await service.alice.endpoint()
  const ids: number[] = []
  for (let n = 0; n < count; n += 1) ids.push((await endpoint.capture({ body: JSON.stringify({ n }) })).id)
  const at = (path = '') => endpoint.at(`/replays${path}`)
  const begin = async (members: object) =>
    (
      await service.alice.expect(
        service.alice.post(at(), { select: { requestIds: ids }, pace: { perSecond: 1000 }, ...members }),
        Started,
      )
    ).replay
  const change = (id: string, verb: 'pause' | 'resume' | 'cancel') =>
    service.alice.expect(service.alice.post(at(`/${id}/${verb}`)), Run)
  const read = (id: string) => service.alice.expect(service.alice.get(at(`/${id}`)), Run)
  const ended = (id: string) =>
    eventually('the end of the replay', async () => {
      const run = await read(id)
      return ['done', 'failed', 'cancelled'].includes(run.state) && run
    })
  return { endpoint, ids, at, begin, change, read, ended }
}

const numberOf = ({ body }: { readonly body: Buffer }): number => JSON.parse(body.toString()).n

test('a replay that is paused and resumed does not send again what is under way', async () => {
  const answered = Promise.withResolvers<void>()
  await using receiver = await startReceiver((_request, response) => {
    void answered.promise.then(() => response.end())
  })
  const { begin, change, ended } = await captured(3)
  const { id } = await begin({ to: { url: receiver.url } })
  await receiver.take(1)
  expect((await change(id, 'pause')).state).toBe('paused')
  expect((await change(id, 'resume')).state).toBe('queued')
  // A later replay of another endpoint shows that the jobs until here have been taken.
  const other = await captured(1)
  await using elsewhere = await startReceiver()
  await other.ended((await other.begin({ to: { url: elsewhere.url } })).id)
  expect(receiver.received.map(numberOf)).toEqual([0])
  answered.resolve()
  expect(await ended(id)).toMatchObject({ state: 'done', counts: { done: 3, waiting: 0 } })
  expect(receiver.received.map(numberOf)).toEqual([0, 1, 2])
})

test('a replay that is cancelled with a request under way keeps its outcome, and sends nothing more', async () => {
  const answered = Promise.withResolvers<void>()
  await using receiver = await startReceiver((_request, response) => {
    void answered.promise.then(() => response.end())
  })
  const { begin, change, read } = await captured(3)
  const { id } = await begin({ to: { url: receiver.url } })
  await receiver.take(1)
  expect((await change(id, 'cancel')).state).toBe('cancelled')
  answered.resolve()
  await eventually('the outcome', async () => (await read(id)).counts.done === 1)
  expect(await read(id)).toMatchObject({ state: 'cancelled', counts: { done: 1, waiting: 2 } })
  expect(receiver.received.map(numberOf)).toEqual([0])
})

test('a request whose edit faults is errored with its reason, and the others go on', async () => {
  await using receiver = await startReceiver()
  const { endpoint, at, begin, ended } = await captured(2)
  const odd = await endpoint.capture({ body: 'neither JSON nor a form' })
  const edit = { version: 1, name: 'Cut', steps: [{ op: 'remove', paths: ['body.n'] }] }
  const { id } = await begin({ select: { filter: {} }, to: { url: receiver.url }, edit })
  expect(await ended(id)).toMatchObject({ state: 'done', counts: { sends: 3, done: 2, errored: 1 } })
  const Results = z.object({
    items: z.array(z.looseObject({ requestId: z.int(), state: z.string(), error: z.string().nullable() })),
  })
  const { items } = await service.alice.expect(service.alice.get(at(`/${id}/results?limit=10`)), Results)
  expect(items.filter(({ state }) => state === 'errored')).toMatchObject([
    { requestId: odd.id, error: expect.stringContaining('rule_fault') },
  ])
  expect(receiver.received.map(({ body }) => body.toString())).toEqual(['{}', '{}'])
})

test('live deliveries of the same endpoint go on while a replay waits for its receiver', async () => {
  const answered = Promise.withResolvers<void>()
  await using slow = await startReceiver((_request, response) => {
    void answered.promise.then(() => response.end())
  })
  await using live = await startReceiver()
  const { endpoint, begin, ended } = await captured(4)
  const { id } = await begin({ to: { url: slow.url }, concurrency: 4 })
  await slow.take(4)
  await service.alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'Live', url: live.url })
  for (let n = 10; n < 15; n += 1) await endpoint.capture({ body: JSON.stringify({ n }) })
  expect((await live.take(5)).map(numberOf).toSorted()).toEqual([10, 11, 12, 13, 14])
  answered.resolve()
  expect(await ended(id)).toMatchObject({ state: 'done', counts: { done: 4 } })
})

test('a replay whose listener has gone is paused, gives its place to others, and goes on after a resume', async () => {
  const { at, begin, change, read } = await captured(2)
  const { id } = await begin({ to: { listeners: true } })
  const Taken = z.object({ items: z.array(z.looseObject({ position: z.int() })) })
  const take = async () =>
    (
      await service.alice.expect(service.alice.post(at(`/${id}/take`), { max: 1, waitSeconds: 5 }), Taken)
    ).items.map(({ position }) => position)
  expect(await take()).toEqual([1])
  await service.runJob('replays.sweep', {})
  expect((await read(id)).state).toBe('running')
  await service.db
    .updateTable('replays')
    .set({ listenedAt: new Date(Date.now() - 16 * 60_000) })
    .where('id', '=', id)
    .execute()
  await service.runJob('replays.sweep', {})
  expect((await read(id)).state).toBe('paused')
  await change(id, 'resume')
  expect(await take()).toEqual([1])
})

test('a request whose sends were lost with their processes three times is given up, and the others go on', async () => {
  const answered = Promise.withResolvers<void>()
  await using receiver = await startReceiver((_request, response) => {
    void answered.promise.then(() => response.end())
  })
  const { begin, ended } = await captured(3)
  const { id } = await begin({ to: { url: receiver.url } })
  await receiver.take(1)
  await service.db
    .updateTable('replayItems')
    .set({ attempts: 3 })
    .where('replayId', '=', id)
    .where('position', '=', 2)
    .execute()
  answered.resolve()
  expect(await ended(id)).toMatchObject({ state: 'done', counts: { done: 2, errored: 1 } })
  expect(receiver.received.map(numberOf)).toEqual([0, 2])
})

test('a send that is due much later has its job before its time, so that it is not late', async () => {
  await using receiver = await startReceiver()
  const { begin } = await captured(2)
  const { id } = await begin({ to: { url: receiver.url }, pace: { perSecond: 0.01 } })
  const jobs = await eventually('the job of the second send', async () => {
    const { rows } = await sql<{ earlyMs: number }>`
      select (extract(epoch from r.base_at + interval '100 s' - j.start_after) * 1000)::float8 as early_ms
      from pgboss.job j join replays r on r.id::text = j.data ->> 'laneId'
      where j.name = 'replays.lanes' and r.id = ${id} and j.state < 'active'
        and j.start_after > r.base_at + interval '60 s'`.execute(service.db)
    return rows.length > 0 && rows
  })
  for (const { earlyMs } of jobs) expect(earlyMs).toBeGreaterThan(3000)
})
