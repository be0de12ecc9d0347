import { type Kysely, sql } from 'kysely'
import { MIGRATIONS } from './migrations.ts'

/** The last migration of 0.1.0, and the last of those that development versions of 0.2.0 had as forty files. */
const [LAST_RELEASED, LAST_FORMER] = ['20261121T1060_watchdogs', '20261124T0215_failing_actions']
const MERGED = Object.keys(MIGRATIONS).filter((name) => name > LAST_RELEASED && name < LAST_FORMER)

/** The applied migrations under their present names. A database that has only some of the former files keeps them. */
export function renamed(applied: readonly string[]): string[] {
  if (!applied.includes(LAST_FORMER)) return [...applied]
  return [...applied.filter((name) => name <= LAST_RELEASED || name > LAST_FORMER), ...MERGED]
}

/** Records the merged files in place of the former ones, once, also when several processes call it. */
export async function recordRenamed<Database>(db: Kysely<Database>): Promise<void> {
  await sql`
    with former as (
      delete from kysely_migration where name > ${LAST_RELEASED} and name <= ${LAST_FORMER}
        and exists (select from kysely_migration where name = ${LAST_FORMER})
      returning timestamp)
    insert into kysely_migration
    select name, (select max(timestamp) from former) from unnest(${MERGED}::text[]) as merged (name)
    where exists (select from former)`.execute(db)
}
