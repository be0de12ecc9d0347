import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import type { Json } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Replays that programs send themselves: leases of what they take, and calls that wait. */

let service: TestService

const Run = z.looseObject({ id: z.string(), state: z.string(), counts: z.looseObject({ done: z.int() }) })
const Taken = z.object({ items: z.array(z.looseObject({ position: z.int() })), state: z.string() })

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  await sql`create table looks (replay_id uuid)`.execute(service.db)
  await sql`create function count_look() returns trigger language plpgsql as
    'begin insert into looks values (new.id); return new; end'`.execute(service.db)
  await sql`create trigger count_look after update of listened_at on replays for each row
    execute function count_look()`.execute(service.db)
})

afterAll(() => service.stop())

async function listened(captures: number, members: Json = {}) {
  const endpoint = await service.alice.endpoint()
  for (let n = 0; n < captures; n += 1) await endpoint.capture({ body: JSON.stringify({ n }) })
  const at = (path = '') => endpoint.at(`/replays${path}`)
  const begin = async (to: Json, more: Json = members) =>
    (
      await service.alice.expect(
        service.alice.post(at(), { select: { filter: {} }, to, pace: { perSecond: 1000 }, ...more }),
        z.looseObject({ replay: Run }),
      )
    ).replay.id
  const id = await begin({ listeners: true })
  const call = (max: number, waitSeconds: number) =>
    service.alice.post(at(`/${id}/take`), { max, waitSeconds })
  const take = async (waitSeconds: number) => {
    const { items } = await service.alice.expect(call(1, waitSeconds), Taken)
    return items.map(({ position }) => position)
  }
  const answer = async (position: number) =>
    (
      await service.alice.post(at(`/${id}/answer`), {
        position,
        durationMs: 1,
        received: { statusCode: 200, headers: [], body: '' },
      })
    ).status
  const read = (replayId = id) => service.alice.expect(service.alice.get(at(`/${replayId}`)), Run)
  return { endpoint, id, at, begin, call, take, answer, read }
}

/** Ends the leases of all requests that were taken, as if their time were over. */
const endLeases = (replayId: string) =>
  service.db
    .updateTable('replayItems')
    .set({ leaseEndsAt: new Date(Date.now() - 1) })
    .where('replayId', '=', replayId)
    .where('state', '=', 'sending')
    .execute()

test('a request that a listener took and never answered is given again when its lease is over', async () => {
  const { id, take, answer, read } = await listened(2, { timeoutSeconds: 5 })
  expect(await take(5)).toEqual([1])
  expect(await take(0)).toEqual([])
  const { leaseEndsAt } = await service.db
    .selectFrom('replayItems')
    .where('replayId', '=', id)
    .where('position', '=', 1)
    .select('leaseEndsAt')
    .executeTakeFirstOrThrow()
  const leaseSeconds = ((leaseEndsAt?.getTime() ?? 0) - Date.now()) / 1000
  expect(leaseSeconds).toBeGreaterThan(5)
  expect(leaseSeconds).toBeLessThanOrEqual(35)
  await endLeases(id)
  expect(await take(5)).toEqual([1])
  expect(await answer(1)).toBe(204)
  expect(await take(5)).toEqual([2])
  // An answer that comes late counts as long as the request was not given to another.
  await endLeases(id)
  expect(await answer(2)).toBe(204)
  expect(await read()).toMatchObject({ state: 'done', counts: { done: 2 } })
})

test('a resumed replay whose last request is under way gives it again without its whole schedule', async () => {
  const { id, at, take, answer } = await listened(2, { pace: { perSecond: 0.01 } })
  expect(await take(5)).toEqual([1])
  expect(await answer(1)).toBe(204)
  // The second is due 100 s after the first: as if they had passed.
  await service.db
    .updateTable('replays')
    .set({ baseAt: new Date(Date.now() - 100_000) })
    .where('id', '=', id)
    .execute()
  expect(await take(5)).toEqual([2])
  for (const verb of ['pause', 'resume'])
    expect((await service.alice.post(at(`/${id}/${verb}`))).status).toBe(200)
  expect(await take(0)).toEqual([])
  await endLeases(id)
  expect(await take(0)).toEqual([2])
})

test('a replay whose endpoint forbids replays meanwhile ends, once the last answer is there', async () => {
  const { id, endpoint, take, answer, call, read } = await listened(3)
  expect(await take(5)).toEqual([1])
  expect((await service.alice.patch(endpoint.at(''), { allowRehearsal: false })).status).toBe(200)
  expect(Object((await call(1, 0)).body)).toEqual({ items: [], state: 'running' })
  expect(await answer(1)).toBe(204)
  expect(Object((await call(1, 0)).body)).toEqual({ items: [], state: 'failed' })
  expect(await read(id)).toMatchObject({
    state: 'failed',
    reason: 'rehearsal_forbidden',
    counts: { done: 1, waiting: 2 },
  })
})

describe('requests whose bodies have over 16 MB together', () => {
  const MB = 1_000_000
  // Each body becomes ten times as long.
  const edit = {
    version: 1,
    name: 'Lengthen',
    steps: Array.from({ length: 9 }, (_, n) => ({
      op: 'compute',
      path: `body.copy${n}`,
      fn: 'concat',
      args: ['body.text'],
    })),
  }

  async function long(textBytes: number, members: Json) {
    const endpoint = await service.alice.endpoint()
    for (let n = 0; n < 3; n += 1)
      await endpoint.capture({ body: JSON.stringify({ text: 'x'.repeat(textBytes) }) })
    const start = (to: Json, more: Json = {}) => {
      const given = { select: { filter: {} }, to, pace: { perSecond: 1000 }, concurrency: 8 }
      return service.alice.post(endpoint.at('/replays'), { ...given, ...members, ...more })
    }
    return { endpoint, start }
  }

  test.each([
    ['as they were captured', 6 * MB, {}],
    ['by their edit', 0.6 * MB, { edit }],
  ])('%s are given, and shown by a dry run, two at a time', async (_, textBytes, members) => {
    const { endpoint, start } = await long(textBytes, members)
    const Dry = z.looseObject({ sendCount: z.int(), shown: z.array(z.looseObject({ position: z.int() })) })
    const dry = await service.alice.expect(start({ url: 'http://127.0.0.1:9' }, { dryRun: true }), Dry)
    expect({ sendCount: dry.sendCount, shown: dry.shown.map(({ position }) => position) }).toEqual({
      sendCount: 3,
      shown: [1, 2],
    })
    const { replay } = await service.alice.expect(
      start({ listeners: true }),
      z.looseObject({ replay: z.looseObject({ id: z.string() }) }),
    )
    // All are due.
    await service.db.updateTable('replayItems').set({ dueMs: 0 }).where('replayId', '=', replay.id).execute()
    const take = async () => {
      const words = { max: 64, waitSeconds: 5 }
      const path = endpoint.at(`/replays/${replay.id}/take`)
      const { items } = await service.alice.expect(service.alice.post(path, words), Taken)
      return items.map(({ position }) => position)
    }
    expect([await take(), await take()]).toEqual([[1, 2], [3]])
    const { attempts } = await service.db
      .selectFrom('replayItems')
      .where('replayId', '=', replay.id)
      .where('position', '=', 3)
      .select('attempts')
      .executeTakeFirstOrThrow()
    expect(attempts).toBe(1)
  })
})

test('a call that waits looks after changes only, and gets what a change makes room for', async () => {
  const { id, at, take, answer } = await listened(2)
  expect(await take(5)).toEqual([1])
  const before = await looks()
  const waiting = take(20)
  await eventually('the look of the call', async () => (await looks()) > before)
  const paused = await service.alice.post(at(`/${id}/pause`))
  expect(paused.status).toBe(200)
  await service.alice.post(at(`/${id}/resume`))
  expect(await answer(1)).toBe(204)
  expect(await waiting).toEqual([2])
  // One when it began, one after each of three changes, and the calls themselves.
  expect((await looks()) - before).toBeLessThan(12)
})

test('a call that waits ends when the replay is cancelled', async () => {
  const { id, at, take, call } = await listened(1)
  expect(await take(5)).toEqual([1])
  const waiting = call(1, 20)
  await eventually('the slot of the call', async () => (await slots()) > 0)
  await service.alice.post(at(`/${id}/cancel`))
  expect(Object((await waiting).body)).toEqual({ items: [], state: 'cancelled' })
  await eventually('the end of its slot', async () => (await slots()) === 0)
})

test('a call that waits answers 401 within 6 s when its key is revoked, and claims nothing', async () => {
  const { id, at, take, answer } = await listened(2)
  expect(await take(5)).toEqual([1])
  const made = await service.alice.expect(
    service.alice.post('/api/v1/keys', { name: 'short', scope: 'write' }),
    z.looseObject({ id: z.string(), key: z.string() }),
  )
  const waiting = service.alice.post(
    at(`/${id}/take`),
    { max: 1, waitSeconds: 20 },
    { headers: { Authorization: `Bearer ${made.key}` } },
  )
  await eventually('the slot of the call', async () => (await slots()) > 0)
  await service.alice.delete(`/api/v1/keys/${made.id}`)
  expect(await waiting).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
  expect(await answer(1)).toBe(204)
  expect(await take(5)).toEqual([2])
})

test('a key has 32 calls that wait', async () => {
  const { id, at, take, call } = await listened(1)
  expect(await take(5)).toEqual([1])
  const waiting = Array.from({ length: 32 }, () => call(1, 20))
  await eventually('the slots', async () => (await slots()) === 32)
  const refused = await call(1, 20)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).not.toBeNull()
  expect((await call(1, 0)).status).toBe(200)
  await service.alice.post(at(`/${id}/cancel`))
  for (const { status } of await Promise.all(waiting)) expect(status).toBe(200)
})

test('replays for listeners that idle do not keep others waiting', async () => {
  await using receiver = await startReceiver()
  const { begin, read } = await listened(1)
  await begin({ listeners: true })
  await begin({ listeners: true })
  const sent = await begin({ url: receiver.url })
  await eventually('the replay that the service sends', async () => (await read(sent)).state === 'done')
  expect(receiver.received).toHaveLength(1)
})

test('a call that waits gets nothing while the workspace is about to move to another cell', async () => {
  const { id, endpoint, take } = await listened(1)
  expect(await take(5)).toEqual([1])
  const look = async (change: () => Promise<unknown>) => {
    const before = await looks()
    await change()
    await sql`select pg_notify('creel_endpoints', ${endpoint.id})`.execute(service.db)
    await eventually('a look', async () => (await looks()) > before)
  }
  const seal = (until: string | null) =>
    sql`update workspaces set sealed_until = ${until}::timestamptz where id = ${service.alice.workspaceId}`.execute(
      service.db,
    )
  const looksBefore = await looks()
  let isGiven = false
  const waiting = take(20).then((positions) => {
    isGiven = true
    return positions
  })
  await eventually('the first look of the call', async () => (await looks()) > looksBefore)
  await look(async () => {
    await seal('infinity')
    await endLeases(id)
  })
  expect(isGiven).toBe(false)
  await look(() => seal(null))
  expect(await waiting).toEqual([1])
})

/** Looks of `take` so far: each notes that its listener is there. */
async function looks(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from looks`.execute(service.db)
  return rows[0]?.count ?? 0
}

async function slots(): Promise<number> {
  const { count } = await service.db
    .selectFrom('concurrencySlots')
    .where('scope', 'like', 'take:%')
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
