import { expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { isDatabaseOutage } from '@creel/core/platform/db'
import { sql } from 'kysely'
import { createTestDatabase } from '../support/database.ts'
import { startFar } from '../support/far.ts'

test('a statement on a connection that loses every packet fails, and so does its transaction; the next one has a new connection', async () => {
  const far = await startFar(await createTestDatabase(), 1)
  // Statements of searches have the shortest time limit.
  const { searches, close } = openDatabase(far.url, 1, 1)
  const ask = () =>
    searches.transaction().execute(async (trx) => {
      await sql`select 1`.execute(trx)
      far.path.lose()
      await sql`select 2`.execute(trx)
    })
  const error = await ask().catch((error: unknown) => error)
  expect(isDatabaseOutage(error)).toBeTrue()
  await sql`select 3`.execute(searches)
  await close()
})
