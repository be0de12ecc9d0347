import { type Kysely, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { MIGRATIONS } from './migrations.ts'

/**
 * Brings the database up to date. Safe to call from several processes at once: Kysely's migrator holds an
 * advisory lock for the whole run.
 *
 * @returns the names of the migrations that this call applied, oldest first
 * @throws the error of Postgres when one fails; all of this call's migrations are rolled back together
 */
export async function migrate<Database>(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{
    table: string | null
  }>`select to_regclass('kysely_migration')::text as table`.execute(db)
  if (rows[0]?.table != null) await recordRenamed(db)
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } })
  const { error, results } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
  return (results ?? []).map((result) => result.migrationName)
}

/** State of the database's schema, compared with this build. */
export interface MigrationState {
  /** Migrations of this build that the database lacks, oldest first. */
  readonly pending: string[]
  /** Migrations in the database that are unknown to this build, from a newer version. */
  readonly unknown: string[]
  /** True when no migration was ever applied. */
  readonly isEmpty: boolean
}

/** Compares the database with this build. It changes nothing, not even in an empty database. */
export async function migrationState<Database>(db: Kysely<Database>): Promise<MigrationState> {
  const applied = new Set(await appliedNames(db))
  return {
    pending: Object.keys(MIGRATIONS).filter((name) => !applied.has(name)),
    unknown: [...applied].filter((name) => !(name in MIGRATIONS)),
    isEmpty: applied.size === 0,
  }
}

/**
 * Reads the names directly: Kysely's migrator reads the whole catalogue first, which takes as long as the rest of a
 * start.
 */
async function appliedNames<Database>(db: Kysely<Database>): Promise<string[]> {
  const { rows: found } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(db)
  if (found[0]?.exists !== true) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return renamed(rows.map(({ name }) => name))
}

/** The last migration of 0.1.0, and the last of those that development versions of 0.2.0 had as forty files. */
const [LAST_RELEASED, LAST_FORMER] = ['20261121T1060_watchdogs', '20261124T0215_failing_actions']
const MERGED = Object.keys(MIGRATIONS).filter((name) => name > LAST_RELEASED && name < LAST_FORMER)

/** The applied migrations under their present names. A database that has only some of the former files keeps them. */
function renamed(applied: readonly string[]): string[] {
  if (!applied.includes(LAST_FORMER)) return [...applied]
  return [...applied.filter((name) => name <= LAST_RELEASED || name > LAST_FORMER), ...MERGED]
}

/** Records the merged files in place of the former ones, once, also when several processes call it. */
async function recordRenamed<Database>(db: Kysely<Database>): Promise<void> {
  await sql`
    with former as (
      delete from kysely_migration where name > ${LAST_RELEASED} and name <= ${LAST_FORMER}
        and exists (select from kysely_migration where name = ${LAST_FORMER})
      returning timestamp)
    insert into kysely_migration
    select name, (select max(timestamp) from former) from unnest(${MERGED}::text[]) as merged (name)
    where exists (select from former)`.execute(db)
}
