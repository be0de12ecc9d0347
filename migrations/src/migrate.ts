import { type Kysely, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { MIGRATIONS } from './migrations.ts'
import { recordRenamed } from './renamed.ts'

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
