import { type Kysely, sql } from 'kysely'

/** Copied rows draw their ids from the sequence by default, under the lock that the capture's transaction holds. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table requests alter column id set default nextval('request_ids')`.execute(db)
}
