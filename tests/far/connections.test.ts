import { expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { isDatabaseOutage } from '@creel/core/platform/db'
import { createBoss } from '@creel/jobs'
import { sql } from 'kysely'
import { pino } from 'pino'
import { createTestDatabase, limitStatements } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startFar } from '../support/far.ts'
import { administer } from '../support/templateDatabase.ts'

test('a statement on a connection that loses every packet fails, and so does its transaction; the next one has a new connection', async () => {
  const far = await startFar(await createTestDatabase(), 1)
  const { db, close } = openDatabase(far.url, 1, 1, 1)
  const ask = () =>
    db.transaction().execute(async (trx) => {
      await sql`select 1`.execute(trx)
      far.path.lose()
      await sql`select 2`.execute(trx)
    })
  const error = await ask().catch((error: unknown) => error)
  expect(isDatabaseOutage(error)).toBeTrue()
  await sql`select 3`.execute(db)
  await close()
})

test('a connection without a limit waits for its statement, whatever the limit of the database', async () => {
  const { url } = await createTestDatabase({ isEmpty: true })
  const limited = openDatabase(url, 1, 1)
  await limitStatements(limited.db, '100ms')
  await limited.close()
  const { db, close } = openDatabase(url, 1, 1, 0)
  await sql`select pg_sleep(0.3)`.execute(db)
  await close()
})

test('a long transaction may wait, whatever limits of waiting the database has', async () => {
  const { url } = await createTestDatabase({ isEmpty: true })
  const name = new URL(url).pathname.slice(1)
  for (const limit of ['idle_in_transaction_session_timeout', 'idle_session_timeout'])
    await administer(url, `alter database ${name} set ${limit} = '100ms'`)
  const [waiting, other] = [openDatabase(url, 1, 1, 0), openDatabase(url, 1, 1, 0)]
  const wait = () => sql`select pg_sleep(0.3)`.execute(other.db)
  await waiting.db.connection().execute(async (session) => {
    await session.transaction().execute(async (trx) => {
      await sql`select 1`.execute(trx)
      await wait()
      await sql`select 2`.execute(trx)
    })
    await wait()
    await sql`select 3`.execute(session)
  })
  await Promise.all([waiting.close(), other.close()])
})

test('a session of the job queue ends its transaction when its process is gone', async () => {
  const { url } = await createTestDatabase()
  const boss = createBoss(url, { log: pino({ level: 'silent' }), works: false })
  await boss.start()
  const { rows } = await boss
    .getDb()
    .executeSql(`select current_setting('idle_in_transaction_session_timeout') as limit`)
  expect(rows).toEqual([{ limit: '1min' }])
  await boss.stop({ graceful: false })
})

test('PostgreSQL may end the connection that listens for jobs while it is closed', async () => {
  const far = await startFar(await createTestDatabase(), 100)
  const boss = createBoss(far.url, { log: pino({ level: 'silent' }), works: true })
  await boss.start()
  const near = openDatabase(far.near.url, 1, 1)
  const pid = await eventually('the connection that listens', async () => {
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_stat_activity where datname = current_database() and query like 'LISTEN%'`.execute(
      near.db,
    )
    return rows[0]?.pid
  })
  await sql`select pg_terminate_backend(${pid}, 10000)`.execute(near.db)
  // PostgreSQL's message about it is still on its way.
  await boss.stop({ graceful: false })
  await near.close()
})
