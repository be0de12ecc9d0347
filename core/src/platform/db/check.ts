import { sql } from 'kysely'
import type { Db } from './handles.ts'

/** @throws what the driver says when the database does not answer */
export async function checkDatabase(db: Db): Promise<void> {
  await sql`select 1`.execute(db)
}
