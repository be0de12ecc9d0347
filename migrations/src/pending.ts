import { type Kysely, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { MIGRATIONS } from './migrations.ts'

/** How the database stands to this build. */
export interface MigrationState {
  /** Migrations of this build that the database lacks, oldest first. */
  readonly pending: string[]
  /** Migrations that the database has and this build does not know: a newer version made them. */
  readonly unknown: string[]
}

/** Compares the database with this build; changes nothing, also in a database that is empty. */
export async function migrationState<Database>(db: Kysely<Database>): Promise<MigrationState> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } })
  const known = await migrator.getMigrations()
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  const isEmpty = !tables.some((table) => table.name === 'kysely_migration')
  const applied = isEmpty ? [] : await appliedNames(db)
  return {
    pending: known.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name),
    unknown: applied.filter((name) => !(name in MIGRATIONS)),
  }
}

async function appliedNames<Database>(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map(({ name }) => name)
}
