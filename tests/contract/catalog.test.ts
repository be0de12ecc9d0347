import { expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { sql } from 'kysely'
import { createTestDatabase } from '../support/database.ts'

/** Tables that grow with captures. */
const GROWING = ['attempt_details', 'delivery_attempts', 'requests']

test('what grows with captures is keyed by endpoint, and no foreign key ties it to one machine', async () => {
  const database = await createTestDatabase()
  const { db, close } = openDatabase(database.url, 1)
  const { rows } = await sql<{ table: string; kind: string; first: string; to: string }>`
    select c.conrelid::regclass::text as "table", c.contype as kind, a.attname as first, c.confrelid::regclass::text as "to"
    from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.connamespace = 'public'::regnamespace and c.contype in ('p', 'f')`.execute(db)
  const { rows: unique } = await sql<{ table: string }>`
    select distinct i.indrelid::regclass::text as "table"
    from pg_index i
    where i.indisunique and i.indrelid::regclass::text = any(${GROWING}) and not exists (
      select from pg_attribute a
      where a.attrelid = i.indrelid and a.attnum = any(i.indkey) and a.attname = 'endpoint_id')
    order by 1`.execute(db)
  await close()
  const keys = rows.filter(({ table, kind }) => kind === 'p' && GROWING.includes(table))
  expect(keys.map(({ table, first }) => `${table} by ${first}`).sort()).toEqual(
    GROWING.map((table) => `${table} by endpoint_id`),
  )
  // Workspaces arrive with the numbers of another database, and rows may be distributed by endpoint.
  expect(unique).toEqual([])
  const ties = rows.filter(
    ({ table, kind, to }) => kind === 'f' && [table, to].some((end) => GROWING.includes(end)),
  )
  expect(ties).toEqual([])
})
