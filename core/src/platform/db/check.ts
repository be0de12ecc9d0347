import { sql } from 'kysely'
import type { Db } from './statement.ts'

/** Checks that the database answers. @throws the driver's error when it does not */
export async function checkDatabase(db: Db): Promise<void> {
  await sql`select 1`.execute(db)
}
