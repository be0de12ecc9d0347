import { expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { isDatabaseOutage } from '@creel/core/platform/db'
import { sql } from 'kysely'
import { createTestDatabase, limitStatements } from '../support/database.ts'
import { startFar } from '../support/far.ts'

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
