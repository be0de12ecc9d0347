import type { Db } from '@creel/core'
import { migrate, migrationState } from '@creel/migrations'
import { StartupError } from '../startupError.ts'

/**
 * Makes sure that a database has the schema of this build.
 *
 * @param mayMigrate runs pending migrations; else they are an error
 * @throws StartupError for a schema of a newer version, or one that lacks migrations
 */
export async function requireSchema(db: Db, { mayMigrate }: { readonly mayMigrate: boolean }): Promise<void> {
  const { pending, unknown } = await migrationState(db)
  if (unknown.length > 0) {
    throw new StartupError(
      `A newer version of creel has migrated this database (${unknown.join(', ')}). Run that version.`,
    )
  }
  if (pending.length === 0) return
  if (!mayMigrate) throw new StartupError('The database has pending migrations. Run `creel migrate` first.')
  await migrate(db)
}
