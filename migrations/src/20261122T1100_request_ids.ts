import { type Kysely, sql } from 'kysely'

/** Rows that are copied in draw their ids themselves, under the lock that the capture's transaction holds. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table requests alter column id set default nextval('request_ids')`.execute(db)
}
