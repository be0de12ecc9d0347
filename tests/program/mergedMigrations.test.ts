import { expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { MIGRATIONS, migrate, migrationState } from '@creel/migrations'
import { sql } from 'kysely'
import { createTestDatabase } from '../support/database.ts'

test('a database of a development version, which had more files, is up to date under the merged names', async () => {
  const database = await createTestDatabase()
  const { db, close } = openDatabase(database.url, 4)
  const names = async () =>
    (await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)).rows.map(
      ({ name }) => name,
    )
  const current = await names()
  const former = ['20261122T1100_request_ids', '20261123T0605_replays', '20261124T0215_failing_actions']
  await sql`
    with merged as (
      delete from kysely_migration where name > '20261122' and name < '20261124T0215' returning timestamp)
    insert into kysely_migration
    select name, (select max(timestamp) from merged) from unnest(${former}::text[]) as n (name)`.execute(db)
  expect(await migrationState(db)).toEqual({ pending: [], unknown: [], isEmpty: false })
  expect(await names()).toEqual(expect.arrayContaining(former))
  // Several processes may start at once.
  expect(await Promise.all([migrate(db), migrate(db), migrate(db)])).toEqual([[], [], []])
  expect(await names()).toEqual(current)
  expect(current).toEqual(Object.keys(MIGRATIONS))
  await close()
  await database.drop()
})
