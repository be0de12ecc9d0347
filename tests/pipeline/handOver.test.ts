import { describe, expect, test } from 'bun:test'
import { type Db, openDatabase } from '@creel/core'
import { sql } from 'kysely'
import { z } from 'zod'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { answersAfter } from '../support/hangingReceivers.ts'
import { type ProcessOptions, startProcess, TEST_SECRET_KEY, temporaryFolder } from '../support/process.ts'
import { clientOf } from '../support/processClient.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

const TABLES = {
  jobs: sql`pgboss.job where name = 'deliveries.lanes'`,
  deliveries: sql`deliveries`,
}

const countOf = async (db: Db, of: keyof typeof TABLES) => {
  const table = TABLES[of]
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from ${table}`.execute(db)
  return rows[0]?.count
}

/** Resolves when a capture waits for the table of deliveries, which the caller has locked. */
const captureWaits = (trx: Db) =>
  eventually('the capture, waiting', async () => {
    const { rows } = await sql`
      select from pg_locks where relation = 'deliveries'::regclass and mode = 'RowExclusiveLock' and not granted`.execute(
      trx,
    )
    return rows.length > 0
  })

describe('the first attempt of a capture', () => {
  test('is made by the process that captured, without a job, where it runs jobs', async () => {
    await using receiver = await startReceiver()
    const { alice, db } = await startService()
    const endpoint = await alice.endpoint({ forwardUrl: receiver.url })
    await endpoint.send({ body: 'first' })
    await receiver.take(1)
    await eventually('the end of the delivery', async () => (await countOf(db, 'deliveries')) === 0)
    expect(await countOf(db, 'jobs')).toBe(0)
    const attempts = await alice.expect(
      alice.get(endpoint.at('/deliveries')),
      z.looseObject({ items: z.array(z.looseObject({})) }),
    )
    expect(attempts.items).toMatchObject([{ state: 'Succeeded', attemptNumber: 1, trigger: 'capture' }])
  })

  test('waits in its lane, which has a job, where the process runs none', async () => {
    const { alice, db } = await startService({ parts: ['gateway'] })
    const endpoint = await alice.endpoint({ forwardUrl: 'http://127.0.0.1:9/' })
    await endpoint.send({ body: 'first' })
    expect(await countOf(db, 'jobs')).toBe(1)
    expect(await db.selectFrom('deliveryAttempts').selectAll().execute()).toEqual([])
  })

  test('is made to its end by a process that stops between the commit and the hand-over', async () => {
    await using receiver = await startReceiver(answersAfter(500))
    const { alice, db, running } = await startService()
    const endpoint = await alice.endpoint({ forwardUrl: receiver.url })
    // The connection of captures is there, and its statements are prepared.
    await (await alice.endpoint()).send()
    let [sending, stopping]: Promise<unknown>[] = []
    await db.transaction().execute(async (trx) => {
      await sql`lock table deliveries in access exclusive mode`.execute(trx)
      sending = endpoint.send()
      await captureWaits(trx)
      stopping = running.stop()
    })
    await Promise.all([sending, stopping])
    expect(receiver.received).toHaveLength(1)
    expect(await db.selectFrom('deliveryAttempts').select('state').execute()).toEqual([
      { state: 'Succeeded' },
    ])
  })

  test('is not made after its lease has ended: another one has been made in its place', async () => {
    await using receiver = await startReceiver()
    const { alice, db, clock, stop } = await startService()
    const endpoint = await alice.endpoint({ forwardUrl: receiver.url })
    // The connection of captures is there, and its statements are prepared.
    await (await alice.endpoint()).send()
    let sending: Promise<unknown> = Promise.resolve()
    await db.transaction().execute(async (trx) => {
      await sql`lock table deliveries in access exclusive mode`.execute(trx)
      sending = endpoint.send({ body: 'late' })
      await captureWaits(trx)
      // As in a process that was stopped meanwhile.
      await clock.advance(3_600_000)
    })
    await sending
    await eventually('the end of the delivery', async () => (await countOf(db, 'deliveries')) === 0)
    const attempts = await db.selectFrom('deliveryAttempts').select('state').orderBy('id').execute()
    expect(attempts).toEqual([{ state: 'Interrupted' }, { state: 'Succeeded' }])
    await stop()
    expect(receiver.received).toHaveLength(1)
  })

  test('dies with its process between the commit and the hand-over: the sweep of another makes it', async () => {
    await using receiver = await startReceiver()
    const database = await createTestDatabase()
    const options: ProcessOptions = {
      database,
      cwd: await temporaryFolder(),
      env: { CREEL_SECRET_KEY: TEST_SECRET_KEY, CREEL_ALLOW_DESTINATIONS: '127.0.0.1' },
    }
    const first = await startProcess(options)
    const client = await clientOf(first, options)
    const endpoint = await client.endpoint({ forwardUrl: receiver.url })
    // The connection of captures is there, and its statements are prepared.
    await (await client.endpoint()).send()
    const { db, close } = openDatabase(database.url, 2)
    const attempts = () => db.selectFrom('deliveryAttempts').select('state').orderBy('id').execute()

    // While the table is locked, the capture waits in PostgreSQL; the process is stopped, and then PostgreSQL goes
    // on.
    let sending: Promise<unknown> = Promise.resolve()
    await db.transaction().execute(async (trx) => {
      await sql`lock table deliveries in access exclusive mode`.execute(trx)
      sending = endpoint.send({ body: 'cut off' }).catch(() => undefined)
      await captureWaits(trx)
      first.signal('SIGSTOP')
    })
    await eventually('the commit', async () => (await attempts()).length === 1)
    expect(await attempts()).toEqual([{ state: 'Pending' }])
    first.signal('SIGKILL')
    await first.exited
    // Its sender gets no answer, and would send again.
    expect(await sending).toBeUndefined()
    expect(receiver.received).toHaveLength(0)

    // As if its lease were over.
    await sql`update delivery_attempts set lease_until = now()`.execute(db)
    await startProcess(options, ['--only', 'jobs'])
    await receiver.take(1)
    await eventually('the end of the delivery', async () => (await countOf(db, 'deliveries')) === 0)
    expect(await attempts()).toEqual([{ state: 'Interrupted' }, { state: 'Succeeded' }])
    await close()
  })
})
