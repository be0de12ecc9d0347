import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Db, openDatabase, readsWithReplica } from '@creel/core'
import type { ReadDatabase } from '@creel/core/platform/db'
import { migrate } from '@creel/migrations'
import { sql } from 'kysely'
import { z } from 'zod'
import { type DebianPostgres, debianPostgresPrograms, startDebianPostgres } from '../faults/debianPostgres.ts'
import type { TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { startFar } from '../support/far.ts'
import { runCreel, startProcess, TEST_SECRET_KEY } from '../support/process.ts'
import { startService, type TestService } from '../support/service.ts'

/** A primary, a replica that streams from it, and a service that uses both. */

const programs = debianPostgresPrograms()

let primary: DebianPostgres
let replica: DebianPostgres
let replicaDb: Db
let closeReplica: () => Promise<void>
let service: TestService
let endpoint: TestEndpoint

const COUNT = /^creel_replicated_reads_total\{server="(replica|primary)"\} (\d+)$/gm

/** Number of reads on each server so far. */
async function reads(): Promise<{ replica: number; primary: number }> {
  const text = await (await fetch(`${service.baseUrl}/metrics`)).text()
  const counts = new Map([...text.matchAll(COUNT)].map(([, server = '', count]) => [server, Number(count)]))
  return { replica: counts.get('replica') ?? 0, primary: counts.get('primary') ?? 0 }
}

/** Number of reads on each server during `run`. */
async function readsOf(run: () => Promise<void>): Promise<{ replica: number; primary: number }> {
  const before = await reads()
  await run()
  const after = await reads()
  return { replica: after.replica - before.replica, primary: after.primary - before.primary }
}

const readyLine = async () =>
  z.object({ replica: z.string() }).parse(await (await fetch(`${service.baseUrl}/readyz`)).json()).replica
const gauge = async (name: string) =>
  Number(
    new RegExp(`^${name} (.+)$`, 'm').exec(await (await fetch(`${service.baseUrl}/metrics`)).text())?.[1],
  )

/** Waits until the replica is used again. */
const onReplica = () =>
  eventually('a list read from the replica', async () => {
    const ran = await readsOf(async () => void (await service.alice.get('/api/v1/endpoints')))
    return ran.replica === 1
  })

beforeAll(async () => {
  if (programs === undefined) return
  primary = await startDebianPostgres(programs)
  const database = openDatabase(primary.url)
  await migrate(database.db)
  await database.close()
  replica = await primary.addStandby({ isSynchronous: false })
  const opened = openDatabase(replica.url)
  replicaDb = opened.db
  closeReplica = opened.close
  service = await startService({
    database: { url: primary.url, drop: () => Promise.resolve() },
    replicaUrl: replica.url,
    secretKey: Buffer.from(TEST_SECRET_KEY, 'base64'),
    parts: ['gateway'],
    limits: { apiRatePerMinute: 1_000_000 },
  })
  endpoint = await service.alice.endpoint()
})

afterAll(async () => {
  if (programs === undefined) return
  await service.stop()
  await closeReplica()
  // It runs only if the last test, which ends it, failed.
  await replica.kill().catch(() => undefined)
  await primary.kill()
})

describe.skipIf(programs === undefined)('CREEL_DATABASE_READ_URL', () => {
  test('lists and searches run on the replica, and hold what was just acknowledged', async () => {
    await onReplica()
    const ran = await readsOf(async () => {
      for (let round = 1; round <= 20; round += 1) {
        await endpoint.capture({ body: `marker-${round}.` })
        expect(await endpoint.requests('')).toHaveLength(round)
        expect(await endpoint.requests(`q=marker-${round}.`)).toHaveLength(1)
      }
    })
    expect(ran.replica + ran.primary).toBeGreaterThanOrEqual(40)
    // A replica that is slow for a moment is skipped, and not used for a second.
    let round = 20
    const fresh = () =>
      readsOf(async () => {
        round += 1
        await endpoint.capture({ body: `marker-${round}.` })
        expect(await endpoint.requests(`q=marker-${round}.`)).toHaveLength(1)
      })
    if (ran.replica === 0)
      await eventually(
        'a read of what was just stored on the replica',
        async () => (await fresh()).replica > 0,
      )
    await eventually('a replica that answers', async () => (await readyLine()).startsWith('ok'))
  })

  test('what the replica has not replayed is read from the primary, and how far it is behind is told', async () => {
    await onReplica()
    await sql`select pg_wal_replay_pause()`.execute(replicaDb)
    try {
      await endpoint.capture({ body: 'behind' })
      const ran = await readsOf(async () => {
        expect(await endpoint.requests('q=behind')).toHaveLength(1)
      })
      expect(ran).toMatchObject({ replica: 0 })
      await eventually('the lag', async () => (await gauge('creel_replica_lag_bytes')) > 0)
      await eventually('the lag on the page', async () =>
        /^ok: \d+ bytes and \d+\.\d s behind$/.test(await readyLine()),
      )
    } finally {
      await sql`select pg_wal_replay_resume()`.execute(replicaDb)
    }
    await onReplica()
    await eventually('the lag of a replica', async () => (await gauge('creel_replica_lag_bytes')) >= 0)
  })

  test('is what the program reads from, and says so', async () => {
    const creel = await startProcess({
      database: { url: primary.url },
      env: { CREEL_DATABASE_READ_URL: replica.url, CREEL_LOG_LEVEL: 'info' },
    })
    expect(await (await fetch(`${creel.baseUrl}/readyz`)).json()).toMatchObject({
      replica: expect.stringMatching(/^ok/),
    })
    await eventually('the line', () => creel.stderr().includes('replica.used'))
    expect(await creel.stop()).toBe(0)
  })

  test('without the replica all goes on from the primary; back again, it is used again', async () => {
    await onReplica()
    await replica.kill()
    const ran = await readsOf(async () => {
      for (let round = 0; round < 5; round += 1) {
        expect((await service.alice.get('/api/v1/endpoints')).status).toBe(200)
      }
    })
    expect(ran).toEqual({ replica: 0, primary: 5 })
    expect(await readyLine()).toStartWith('out of reach')
    expect(await gauge('creel_replica_lag_seconds')).toBe(-1)
    expect((await fetch(`${service.baseUrl}/readyz`)).status).toBe(200)
    await replica.restart()
    await onReplica()
  })

  test('a read under way goes to the primary when the replica is lost', async () => {
    const far = await startFar({ url: replica.url, drop: () => Promise.resolve() }, 0)
    const [ours, theirs] = [openDatabase(primary.url), openDatabase(far.url)]
    const ran: string[] = []
    const reads = readsWithReplica(ours, theirs, { ran: (where) => ran.push(where), changed: () => {} })
    let loses = false
    const read = async ({ db }: ReadDatabase) => {
      // Nothing tells the driver of it, and its own limit is over a minute.
      if (loses) {
        far.path.lose()
        far.path.target = undefined
      }
      loses = false
      return (await sql<{ one: number }>`select 1 as one`.execute(db)).rows
    }
    await eventually('a read of the replica', async () => {
      await reads.run(read)
      return ran.at(-1) === 'replica'
    })
    loses = true
    const began = performance.now()
    expect(await reads.run(read)).toEqual([{ one: 1 }])
    expect(ran.at(-1)).toBe('primary')
    expect(performance.now() - began).toBeLessThan(50_000)
    await far.drop()
    await Promise.all([ours.close(), theirs.close()])
  })

  test('a replica that was promoted is none any more', async () => {
    await onReplica()
    const { rows } = await sql<{ isFree: boolean }>`
      select bool_and(proacl is null or proacl::text like '%,=X/%' or proacl::text like '{=X/%') as is_free from pg_proc
      where proname in ('pg_control_system', 'pg_control_checkpoint', 'pg_control_recovery', 'pg_current_wal_flush_lsn',
        'pg_walfile_name', 'pg_last_wal_replay_lsn', 'pg_last_xact_replay_timestamp')`.execute(replicaDb)
    // A role with the documented grants may run all queries of the replica check.
    expect(rows).toEqual([{ isFree: true }])
    await replica.promote()
    await endpoint.capture({ body: 'after' })
    const ran = await readsOf(async () => {
      expect(await endpoint.requests('q=after')).toHaveLength(1)
    })
    expect(ran).toMatchObject({ replica: 0 })
    expect(await readyLine()).toStartWith('out of reach')

    // A standby that still follows the former primary is not a replica of the promoted one.
    const follower = await primary.addStandby({ isSynchronous: false })
    const [promoted, behind] = [openDatabase(replica.url), openDatabase(follower.url)]
    const reasons: string[] = []
    const reads = readsWithReplica(promoted, behind, {
      ran: () => {},
      changed: (isUsable, reason) => reasons.push(`${isUsable}: ${reason}`),
    })
    expect(await reads.state()).toEqual({ isUsable: false, lagBytes: null, lagSeconds: null })
    expect(reasons).toEqual(['false: NotAReplica: It follows a former primary.'])
    await Promise.all([promoted.close(), behind.close()])
    await follower.kill()
    await replica.kill()
  })
})

test('is refused beside the embedded database, and when it is no URL of PostgreSQL', async () => {
  const env = { CREEL_DATABASE_READ_URL: 'mysql://replica' }
  const { exitCode, stderr } = await runCreel(['config'], { env })
  expect(exitCode).toBe(2)
  expect(stderr).toContain('CREEL_DATABASE_READ_URL must start with postgres:// or postgresql://')
  expect(stderr).toContain('CREEL_DATABASE_READ_URL needs DATABASE_URL')
})
