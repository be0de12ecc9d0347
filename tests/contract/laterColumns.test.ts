import { expect, test } from 'bun:test'
import '@creel/core'
import { Client } from 'pg'
import { declaredStatements } from '../../core/src/platform/db/statement.ts'
import { createTestDatabase } from '../support/database.ts'

test('no prepared statement of a running process fails when a later version adds a column to its tables', async () => {
  const { url } = await createTestDatabase()
  const client = new Client({ connectionString: url })
  await client.connect()
  const prepared = declaredStatements().filter(({ isPrepared }) => isPrepared)
  for (const [at, { text }] of prepared.entries()) await client.query(`prepare later_${at} as ${text}`)
  await client.query(`do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = 'public' loop
      execute format('alter table %I add column of_a_later_version int', name);
    end loop;
  end $$`)
  const failing: string[] = []
  for (const [at, { name, text }] of prepared.entries()) {
    const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
    const values = count === 0 ? '' : `(${Array(count).fill('null').join()})`
    await client.query(`explain execute later_${at}${values}`).catch((error: unknown) => {
      failing.push(`${name}: ${error}`)
    })
  }
  await client.end()
  expect(prepared.length).toBeGreaterThan(50)
  expect(failing).toEqual([])
})
