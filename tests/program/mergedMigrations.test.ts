import { expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { MIGRATIONS, migrate, migrationState } from '@creel/migrations'
import { sql } from 'kysely'
import { createTestDatabase, limitStatements } from '../support/database.ts'
import { runCreel, startProcess } from '../support/process.ts'

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

test.each([
  ['creel migrate', (url: string) => runCreel(['migrate'], { database: { url } })],
  ['creel serve', async (url: string) => (await startProcess({ database: { url } })).stop()],
])('the migrations of `%s` have no limit of time: large tables take hours', async (_, run) => {
  const database = await createTestDatabase({ isEmpty: true })
  const { db, close } = openDatabase(database.url, 1)
  await sql`create table limits (value text)`.execute(db)
  // The job queue makes its tables by itself.
  await sql`
    create function note_limit() returns event_trigger language plpgsql as $$
    begin
      if current_setting('application_name') <> 'creel-jobs' then
        insert into limits select current_setting('statement_timeout');
      end if;
    end $$`.execute(db)
  await sql`create event trigger note_limit on ddl_command_start execute function note_limit()`.execute(db)
  await limitStatements(db, '1h')
  await run(database.url)
  const { rows } = await sql<{ value: string; count: number }>`
    select value, count(*)::int as count from limits group by value`.execute(db)
  expect(rows).toEqual([{ value: '0', count: expect.any(Number) }])
  expect(rows[0]?.count).toBeGreaterThan(100)
  await close()
})
