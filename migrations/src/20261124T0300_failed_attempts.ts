import { type Kysely, sql } from 'kysely'

/** The failed attempts of an endpoint, newest first, for counters of what needs attention. Only failures are in it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index delivery_attempts_failed on delivery_attempts (endpoint_id, id)
    where state in ('Failed', 'Errored', 'DeadLetter', 'Interrupted')`.execute(db)
}
