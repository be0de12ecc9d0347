import { describe, expect, test } from 'bun:test'
import { type Db, openDatabase } from '@creel/core'
import { createBoss, startWorkers } from '@creel/jobs'
import { sql } from 'kysely'
import { pino } from 'pino'
import { z } from 'zod'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startFar } from '../support/far.ts'
import { type ProcessOptions, startProcess, temporaryFolder } from '../support/process.ts'
import { clientOf } from '../support/processClient.ts'
import { servicePerTest, type TestService, type TestServiceOptions } from '../support/service.ts'
import { type ByKind, eachKind, KINDS, type Kind, openPlaces, type Place } from './kinds.ts'

/** The guarantees of every kind of send. Each test makes sends of all kinds at the same time. */

const startService = servicePerTest()
const COUNT = 12
/** More than a lane of any kind but the plain one may have under way. */
const MANY = 16
const LIMITS = { apiRatePerMinute: 100_000, captureRatePerMinute: 100_000, eventsPerMinuteMax: 10_000 }
const options = (more: TestServiceOptions = {}): TestServiceOptions => ({ limits: LIMITS, ...more })

const cause = (places: ByKind<Place>, count = COUNT) => eachKind((kind) => places[kind].cause(count))

/** Ids of the requests whose messages have arrived; in their order where the kind keeps one. */
const arrived = (places: ByKind<Place>) =>
  eachKind((kind) => {
    const ids = places[kind].gate.arrived()
    return kind === 'governed' ? ids : ids.toSorted((a, b) => a - b)
  })

const haveArrived = (places: ByKind<Place>, count: number) =>
  eachKind((kind) => eventually(`${count} of ${kind}`, () => places[kind].gate.arrived().length >= count))

const areRecorded = (places: ByKind<Place>, db: Db, count: number) =>
  eachKind((kind) =>
    eventually(`${count} results of ${kind}`, async () => (await places[kind].recorded(db)) >= count),
  )

const admitAll = (places: ByKind<Place>) => {
  for (const kind of KINDS) places[kind].gate.admit(1000)
}

describe('everything arrives once, and in its order', () => {
  test.each([
    ['a database nearby', 0],
    ['a database that is 20 ms away', 10],
  ])('from %s', async (_, ms) => {
    const near = await createTestDatabase()
    const service = await startService(options({ database: ms === 0 ? near : await startFar(near, ms) }))
    const places = await openPlaces(service.alice)
    await service.clock.advance(10_000)
    admitAll(places)
    const caused = await cause(places)
    await areRecorded(places, service.db, COUNT)
    expect(await arrived(places)).toEqual(caused)
  })
})

test('what fails is made again, and is done once it succeeds', async () => {
  const service = await startService(options({ retryDelaysSeconds: [20, 20] }))
  const places = await openPlaces(service.alice)
  await service.clock.advance(10_000)
  for (const kind of KINDS) places[kind].gate.firstStatus = 503
  admitAll(places)
  const caused = await cause(places, 1)
  await areRecorded(places, service.db, 1)
  await service.clock.advance(40_000)
  const twice = await eachKind((kind) =>
    kind === 'rehearsal' ? caused[kind] : [...caused[kind], ...caused[kind]],
  )
  await eachKind((kind) =>
    eventually(`the end of ${kind}`, () => places[kind].gate.arrived().length >= twice[kind].length),
  )
  await service.clock.advance(600_000)
  expect(await arrived(places)).toEqual(twice)
})

test('a sealed workspace sends nothing, and everything once the seal has ended', async () => {
  const gateway = await startService(options({ parts: ['gateway'] }))
  const { alice, database, clock, secretKey, db } = gateway
  const places = await openPlaces(alice)
  await clock.advance(10_000)
  admitAll(places)
  const caused = await cause(places)
  const seal = (until: string | null) =>
    sql`update workspaces set sealed_until = ${until}::timestamptz where id = ${alice.workspaceId}`.execute(
      db,
    )
  await seal('infinity')
  await startService(options({ database, clock, secretKey, parts: ['jobs'] }))
  await clock.advance(30_000)
  expect(await arrived(places)).toEqual(await eachKind(() => []))
  await seal(null)
  await eventually(
    'all of every kind',
    async () => {
      // Jobs are due by this clock. If it were faster than time, it would end leases of sends that are under way.
      await clock.advance(1_000)
      return KINDS.every((kind) => places[kind].gate.arrived().length >= COUNT)
    },
    { every: 1_000 },
  )
  await areRecorded(places, db, COUNT)
  expect(await arrived(places)).toEqual(caused)
})

test('a result that PostgreSQL refuses holds up no other, and the log says of which send it was', async () => {
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line) => lines.push(line) })
  const service = await startService(options({ log }))
  const places = await openPlaces(service.alice)
  await service.clock.advance(10_000)
  const caused = await cause(places)
  await eachKind((kind) => eventually(`a send of ${kind}`, () => places[kind].gate.unanswered().length > 0))
  // The last one of an ordered lane, since no other may overtake it.
  const refused = await eachKind((kind) => caused[kind].at(kind === 'governed' ? -1 : 0) ?? 0)
  await refuseResultsOf(service.db, Object.values(refused))
  admitAll(places)
  await haveArrived(places, COUNT - 1)
  await areRecorded(places, service.db, COUNT - 1)
  const others = await eachKind((kind) => new Set(caused[kind]).difference(new Set([refused[kind]])))
  expect(
    await eachKind((kind) => others[kind].difference(new Set(places[kind].gate.arrived())).size),
  ).toEqual(await eachKind(() => 0))
  const dropped = lines
    .map((line) => Line.parse(JSON.parse(line)))
    .filter(({ msg }) => msg.startsWith('dropped'))
  expect(new Set(dropped.map(({ kind }) => kind))).toEqual(
    new Set(['delivery', 'alert', 'event', 'rehearsal']),
  )
  for (const { workspaceId, kind, requestId, alertDeliveryId } of dropped) {
    expect(workspaceId).toBe(service.alice.workspaceId)
    if (kind === 'alert') expect(alertDeliveryId).toBeDefined()
    else expect(Object.values(refused)).toContain(requestId ?? 0)
  }
})

const Line = z.looseObject({
  msg: z.string(),
  kind: z.string().optional(),
  workspaceId: z.string().optional(),
  requestId: z.int().optional(),
  alertDeliveryId: z.unknown().optional(),
})

/** Lets the database refuse results of attempts for these requests, as it refuses text that it cannot hold. */
async function refuseResultsOf(db: Db, requestIds: readonly number[]): Promise<void> {
  await sql`
    create function refuse_result() returns trigger language plpgsql as $$
    begin
      raise exception 'refused by the test' using errcode = '22P05';
    end $$`.execute(db)
  const ids = sql.raw(requestIds.join(', '))
  for (const [table, isResult] of [
    ['delivery_attempts', "new.state <> 'Pending'"],
    ['event_deliveries', 'new.attempts <> old.attempts'],
    ['replay_items', "new.state = 'done'"],
  ])
    await sql`create trigger refuse before update on ${sql.raw(table ?? '')} for each row
      when (new.request_id in (${ids}) and ${sql.raw(isResult ?? '')}) execute function refuse_result()`.execute(
      db,
    )
}

test('receivers that do not answer get a bounded number of sends, and a stop waits for none of them', async () => {
  const gateway = await startService(options({ database: await createTestDatabase(), parts: ['gateway'] }))
  const { database, clock, secretKey } = gateway
  const places = await openPlaces(gateway.alice)
  await clock.advance(10_000)
  // All is due before anything is sent: a send ends after ten seconds without an answer, and captures can take longer.
  const caused = await cause(places, MANY)
  await clock.advance(20_000)
  const first = await startService(options({ database, clock, secretKey }))
  const bounds = { plain: MANY, governed: 1, alert: 6, event: 4, rehearsal: 8 }
  const { plain, governed, ...others } = bounds
  const most = { delivery: plain + governed, ...others }
  // Not all at the same time: sends of some kinds end after ten seconds without an answer, and others begin.
  let seenMost: Record<string, number> = {}
  await eventually('as many sends of each kind as it may have', async () => {
    const now = await inFlight(first)
    seenMost = Object.fromEntries(
      Object.entries(now).map(([kind, count]) => [kind, Math.max(count, seenMost[kind] ?? 0)]),
    )
    return Object.entries(most).every(([kind, count]) => (seenMost[kind] ?? 0) >= count)
  })
  await eachKind((kind) => eventually(`sends of ${kind}`, () => places[kind].gate.most() >= bounds[kind]))
  expect(seenMost).toEqual(most)
  expect(await eachKind((kind) => places[kind].gate.most())).toEqual(bounds)
  await first.running.stop()
  // The leases of sends that were cut off end.
  await clock.advance(60_000)
  admitAll(places)
  const second = await startService(options({ database, clock, secretKey }))
  const isComplete = (kind: Kind) => new Set(places[kind].gate.arrived()).size === MANY
  await eventually(
    'all of every kind',
    async () => {
      // Jobs are due by this clock. If it ran faster, it would end leases of sends that are under way.
      await clock.advance(2_000)
      return KINDS.every(isComplete)
    },
    { every: 500 },
  )
  const seen = await eachKind((kind): readonly number[] =>
    [...new Set(places[kind].gate.arrived())].toSorted((a, b) => a - b),
  )
  expect(seen).toEqual(caused)
  await second.stop()
})

/** Sends in flight by kind of lane, as the metrics of a service show them. */
async function inFlight({ baseUrl }: TestService): Promise<Record<string, number>> {
  const metrics = await (await fetch(`${baseUrl}/metrics`)).text()
  const shown = [...metrics.matchAll(/^creel_lane_sends_in_flight{kind="(\w+)"} (\d+)$/gm)]
  return Object.fromEntries(shown.map(([, kind, count]) => [kind, Number(count)]))
}

test('a stop without time cuts off sends of every kind', async () => {
  const service = await startService(options({ parts: ['gateway'] }))
  const boss = createBoss(service.database.url, { log: pino({ level: 'silent' }), works: true })
  await boss.start()
  const workers = await startWorkers(boss, service.running.services)
  const places = await openPlaces(service.alice)
  await cause(places, 1)
  await eachKind((kind) => eventually(`a send of ${kind}`, () => places[kind].gate.unanswered().length > 0))
  await workers.stop(0)
  expect(await inFlight(service)).toEqual({ delivery: 0, alert: 0, event: 0, rehearsal: 0 })
  // A stop is no loss: this send is made again, and as often as any other.
  const items = await service.db.selectFrom('replayItems').select(['state', 'attempts']).execute()
  expect(items).toEqual([{ state: 'waiting', attempts: 0 }])
  admitAll(places)
  await boss.stop({ graceful: false })
})

test('a process that is killed repeats what was under way, and nothing else', async () => {
  const database = await createTestDatabase()
  const folder = await temporaryFolder()
  const process: ProcessOptions = {
    database,
    cwd: folder,
    env: { CREEL_ALLOW_DESTINATIONS: '127.0.0.1' },
  }
  const gateway = await startProcess(process, ['--only', 'gateway'])
  const client = await clientOf(gateway, process)
  const killed = await startProcess(process, ['--only', 'jobs'])
  const places = await openPlaces(client)
  // Before they arrive: a sender that waits for longer than a send lasts tries again.
  for (const kind of KINDS) places[kind].gate.admit(COUNT / 2)
  const caused = await cause(places)
  const { db, close } = openDatabase(database.url, 2)
  await areRecorded(places, db, COUNT / 2)
  await eachKind((kind) =>
    eventually(`a send of ${kind} under way`, () => places[kind].gate.unanswered().length > 0),
  )
  killed.signal('SIGKILL')
  await killed.exited
  const underWay = await eachKind((kind) => places[kind].gate.unanswered())
  await startProcess(process, ['--only', 'jobs'])
  admitAll(places)
  // A result of a send that was under way at the kill is recorded, too, so the last message may still be due.
  await eachKind((kind) =>
    eventually(`all of ${kind}`, () => new Set(places[kind].gate.arrived()).size === COUNT),
  )
  await areRecorded(places, db, COUNT)
  await close()
  const repeated = await eachKind((kind) => {
    const all = [...places[kind].gate.arrived()]
    for (const id of caused[kind]) all.splice(all.indexOf(id), 1)
    return all.filter((id) => !underWay[kind].includes(id))
  })
  expect(repeated).toEqual(await eachKind(() => []))
})
