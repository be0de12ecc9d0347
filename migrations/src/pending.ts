import { type Kysely, sql } from 'kysely'
import { MIGRATIONS } from './migrations.ts'
import { renamed } from './renamed.ts'

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
