import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { checkWatchdogs } from '@creel/core/watchdogs'
import { sql } from 'kysely'
import { z } from 'zod'
import { AlertReceiver } from '../support/alertReceiver.ts'
import { Client } from '../support/client.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { MailReceiver } from '../support/mailReceiver.ts'
import { startService, type TestService } from '../support/service.ts'
import {
  check,
  makeWatchdog,
  pass,
  putWatchdog,
  raised,
  readWatchdog,
  setActive,
  WATCHDOGS,
  type Watchdog,
} from './support.ts'

let receiver: AlertReceiver
let mail: MailReceiver
let service: TestService

beforeAll(async () => {
  receiver = await AlertReceiver.start()
  mail = await MailReceiver.start()
  service = await startService({ smtpUrl: mail.url })
})
afterAll(async () => {
  await service.stop()
  await Promise.all([receiver.stop(), mail.stop()])
})

const Payload = z.looseObject({
  event_kind: z.string(),
  severity: z.string(),
  status: z.string(),
  incident_id: z.string().nullable(),
  subject_type: z.string(),
  subject_id: z.string(),
  subject_name: z.string(),
  request_id: z.int().nullable(),
})

test('an alarm and its recovery go to channels and to the named contacts, as one incident', async () => {
  const { operator } = service
  const alice = await service.newClient()
  const named = await operator.contacts.add({ workspace: alice.workspaceId, email: 'oncall@example.test' })
  await operator.contacts.add({ workspace: alice.workspaceId, email: 'others@example.test' })
  await alice.post('/api/v1/alert-channels', {
    kind: 'webhook',
    name: 'Ops',
    settings: { url: receiver.url },
  })
  const endpoint = await alice.endpoint({ name: 'payments' })
  const made = await makeWatchdog(endpoint, { name: 'Invoices', alertContactIds: [named.id] })
  await pass(service, 800)
  await receiver.received(1)
  const matched = await endpoint.capture()
  await check(service)
  const [alarm, recovery] = (await receiver.received(2)).map(({ json }) => Payload.parse(json))
  const subject = {
    subject_type: 'watchdog',
    subject_id: made.id,
    subject_name: 'Invoices',
    severity: 'critical',
  }
  expect(alarm).toMatchObject({ event_kind: 'watchdog.alarmed', status: 'open', ...subject })
  expect(recovery).toMatchObject({
    event_kind: 'watchdog.recovered',
    status: 'closed',
    request_id: matched.id,
    ...subject,
  })
  expect(recovery?.incident_id).toBe(alarm?.incident_id ?? '')
  const mails = await mail.received(2)
  expect(mails.map(({ to }) => to)).toEqual([['oncall@example.test'], ['oncall@example.test']])
})

test('watchdogs of a few seconds alarm within 3 s of their time, without being asked', async () => {
  const endpoint = await service.alice.endpoint()
  const made = await Promise.all(
    [1, 1, 2, 2, 3].map((seconds) =>
      makeWatchdog(endpoint, { expectedIntervalSeconds: seconds, graceSeconds: seconds - 1 }),
    ),
  )
  const lateness: number[] = []
  let slowestRead = 0
  for (const watchdog of made) {
    const { alarmedAt } = await eventually('an alarm', async () => {
      const askedAt = performance.now()
      const read = await readWatchdog(service.alice, watchdog)
      slowestRead = Math.max(slowestRead, performance.now() - askedAt)
      return read.state === 'alarmed' && read
    })
    lateness.push(Date.parse(alarmedAt ?? '') - Date.parse(watchdog.alarmAt ?? ''))
    expect(await raised(service, watchdog)).toEqual(['watchdog.alarmed'])
  }
  // A busy machine may delay two of them. A check that runs too rarely would be late for all.
  const [, , third] = lateness.toSorted((one, other) => one - other)
  expect(third).toBeWithin(0, 3000 + 5 * slowestRead)
})

test('a watchdog whose history cannot be read holds up no alarm of others', async () => {
  const client = await service.newClient()
  const endpoint = await client.endpoint()
  const broken = await makeWatchdog(endpoint, { expectedIntervalSeconds: 86_400 })
  const other = await makeWatchdog(endpoint)
  await sql`update watchdogs set match = '{', recheck_at = ${service.clock.now()} where id = ${broken.id}`.execute(
    service.db,
  )
  await service.clock.advance(800_000)
  await eventually('the alarm of the other', async () => (await raised(service, other)).length === 1)
  await sql`delete from watchdogs where id = ${broken.id}`.execute(service.db)
})

test('watchdogs whose alarm cannot be stored hold up no alarm of others', async () => {
  const endpoint = await (await service.newClient()).endpoint()
  const made: Watchdog[] = []
  for (let index = 0; index < 12; index += 1) made.push(await makeWatchdog(endpoint))
  // The first are due first, so that they are in the first batches of each check.
  const broken = made.slice(0, 3)
  await sql`create function refuse_alarm() returns trigger language plpgsql as $$
    begin raise exception 'refused by the test' using errcode = '22P05'; end $$`.execute(service.db)
  const ids = sql.join(broken.map(({ id }) => sql.lit(id)))
  await sql`create trigger refuse_alarm before update on watchdogs for each row
    when (new.phase = 'alarmed' and new.id in (${ids})) execute function refuse_alarm()`.execute(service.db)
  await service.clock.advance(800_000)
  const others = made.slice(broken.length)
  await eventually('the alarms of the others', async () => {
    const kinds = await Promise.all(others.map((watchdog) => raised(service, watchdog)))
    return kinds.every(({ length }) => length === 1)
  })
  expect(await Promise.all(broken.map((watchdog) => raised(service, watchdog)))).toEqual([[], [], []])
  await sql`drop function refuse_alarm cascade`.execute(service.db)
  await eventually('their alarms', async () => (await raised(service, broken[2] ?? { id: '' })).length === 1)
})

describe('several workers', () => {
  // Not through the queue, which would run the jobs one by one.
  const look = ({ running }: TestService) => checkWatchdogs(running.services, new AbortController().signal)

  test('raise one alarm and one recovery for each watchdog', async () => {
    const { database, clock, secretKey } = service
    const other = await startService({ database, clock, secretKey })
    const endpoint = await (await service.newClient()).endpoint()
    const made: Watchdog[] = []
    for (let index = 0; index < 30; index += 1)
      made.push(await makeWatchdog(endpoint, { name: `no ${index}` }))
    const everyOne = async (count: number) => {
      const kinds = await Promise.all(made.map((watchdog) => raised(service, watchdog)))
      return kinds.every(({ length }) => length >= count)
    }
    await clock.advance(800_000)
    await Promise.all([service, other, service, other].map(look))
    // The awaited check may have begun before the clock was moved.
    await eventually('an alarm of every watchdog', () => everyOne(1))
    await endpoint.capture()
    await Promise.all([service, other, service, other].map(look))
    await eventually('a recovery of every watchdog', () => everyOne(2))
    for (const watchdog of made)
      expect(await raised(service, watchdog)).toEqual(['watchdog.alarmed', 'watchdog.recovered'])
    await other.stop()
  })
})

/** Moves all times of the database into the past, as if the service had been down since. It must be stopped. */
async function sleepFor({ url }: TestDatabase, seconds: number): Promise<void> {
  const { db, close } = openDatabase(url, 1)
  const by = sql`make_interval(secs => ${seconds})`
  await sql`update watchdogs set armed_at = armed_at - ${by}, baseline_at = baseline_at - ${by},
    alarm_at = alarm_at - ${by}, last_matched_at = last_matched_at - ${by}`.execute(db)
  await sql`update watchdog_criteria set last_matched_at = last_matched_at - ${by}`.execute(db)
  await sql`update gateway_heartbeats set beat_at = beat_at - ${by}`.execute(db)
  await close()
}

/** A client with the same key for another process. */
function sameClient(service: TestService, { key, workspaceId }: Client): Client {
  return new Client(service.baseUrl, service.captureUrl, key, workspaceId)
}

describe('own downtime', () => {
  const TWO_HOURS = 7200

  test('a restart after an outage longer than the window never pages, and the clock goes on from there', async () => {
    const database = await createTestDatabase()
    const before = await startService({ database })
    const { alice } = before
    const endpoint = await alice.endpoint()
    const [matched, waiting] = [
      await makeWatchdog(endpoint),
      await makeWatchdog(endpoint, { match: { path: 'label', op: 'eq', value: 'never' } }),
    ]
    await endpoint.capture()
    const deadlines = await readWatchdog(alice, matched)
    // The outage begins before a check has applied that match.
    await before.stop()
    await sleepFor(database, TWO_HOURS)

    const after = await startService({ database, secretKey: before.secretKey })
    const client = sameClient(after, alice)
    await check(after)
    for (const watchdog of [matched, waiting]) expect(await raised(after, watchdog)).toEqual([])
    const now = await readWatchdog(client, matched)
    expect(now.state).toBe('onTime')
    expect((await readWatchdog(client, waiting)).state).toBe('waiting')
    // Two hours of outage are credited, so it is due at the original time, plus the time of the restart.
    expect(Math.abs(Date.parse(now.dueAt ?? '') - Date.parse(deadlines.dueAt ?? ''))).toBeLessThan(600_000)

    await pass(after, 800)
    for (const watchdog of [matched, waiting])
      expect(await raised(after, watchdog)).toEqual(['watchdog.alarmed'])
    await after.stop()
    await database.drop()
  })

  test('while no gateway is up, workers alone evaluate nothing', async () => {
    const database = await createTestDatabase()
    const before = await startService({ database })
    const endpoint = await before.alice.endpoint()
    const made = await makeWatchdog(endpoint)
    await before.stop()
    await sleepFor(database, TWO_HOURS)
    const workers = await startService({ database, secretKey: before.secretKey, parts: ['jobs'] })
    await check(workers)
    expect(await raised(workers, made)).toEqual([])
    await workers.stop()
    await database.drop()
  })

  test('a database clock that jumped back leaves no watchdog asleep', async () => {
    const database = await createTestDatabase()
    const before = await startService({ database })
    const { alice } = before
    const endpoint = await alice.endpoint()
    await endpoint.capture()
    const made = await makeWatchdog(endpoint)
    await before.stop()
    // Times that were written "tomorrow", seen from after the jump.
    await sleepFor(database, -86_400)
    const after = await startService({ database, secretKey: before.secretKey })
    const client = sameClient(after, alice)
    const { dueAt } = await readWatchdog(client, made)
    expect(Date.parse(dueAt ?? '') - Date.now()).toBeLessThan(700_000)
    await pass(after, 800)
    expect(await raised(after, made)).toEqual(['watchdog.alarmed'])
    await after.stop()
    await database.drop()
  })
})

describe('the plan limit', () => {
  const states = async (client: Client) => {
    const page = z.looseObject({
      items: z.array(z.looseObject({ name: z.string(), state: z.string(), pausedByPlan: z.boolean() })),
    })
    const { items } = await client.expect(client.get(WATCHDOGS), page)
    return Object.fromEntries(
      items.map(({ name, state, pausedByPlan }) => [name, pausedByPlan ? `${state} by plan` : state]),
    )
  }

  test('pauses the newest on a downgrade; deleting and upgrading bring them back, armed anew', async () => {
    const client = await service.newClient('pro')
    const endpoint = await client.endpoint()
    const made: Watchdog[] = []
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) made.push(await makeWatchdog(endpoint, { name }))
    const [a, , , , , f, g] = made
    if (a === undefined || f === undefined || g === undefined) throw new Error('not made')
    await setActive(client, g, false)

    await service.operator.workspaces.setPlan({ workspace: client.workspaceId, plan: 'solo' })
    const five = { a: 'waiting', b: 'waiting', c: 'waiting', d: 'waiting', e: 'waiting' }
    expect(await states(client)).toEqual({ ...five, f: 'paused by plan', g: 'paused by plan' })
    expect(await setActive(client, f, true)).toMatchObject({ state: 'paused', active: true, dueAt: null })
    expect((await putWatchdog(client, f, { name: 'f' })).pausedByPlan).toBe(true)
    await pass(service, 10_000)
    expect(await raised(service, f)).toEqual([])

    await client.delete(`${WATCHDOGS}/${a.id}`)
    expect(await states(client)).toMatchObject({ f: 'waiting', g: 'paused by plan' })

    await service.operator.workspaces.setPlan({ workspace: client.workspaceId, plan: 'pro' })
    expect(await states(client)).toMatchObject({ f: 'waiting', g: 'paused' })
  })

  test('deleting an endpoint makes room for the watchdogs of another', async () => {
    const limited = await startService({ limits: { watchdogsMax: 2 } })
    const { alice } = limited
    const [first, second] = [await alice.endpoint(), await alice.endpoint()]
    await makeWatchdog(first, { name: 'a' })
    await makeWatchdog(second, { name: 'b' })
    const tighter = await startService({
      database: limited.database,
      clock: limited.clock,
      secretKey: limited.secretKey,
      parts: ['gateway'],
      limits: { watchdogsMax: 1 },
    })
    expect(await states(alice)).toEqual({ a: 'waiting', b: 'paused by plan' })
    const there = sameClient(tighter, alice)
    await there.delete(first.at(''))
    expect(await states(there)).toEqual({ b: 'waiting' })
    await tighter.stop()
    await limited.stop()
  })
})
