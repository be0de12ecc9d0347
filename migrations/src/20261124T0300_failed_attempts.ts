import { type Kysely, sql } from 'kysely'

/** The failed attempts of an endpoint, newest first, for counters of what needs attention. Only failures are in it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index delivery_attempts_failed on delivery_attempts (endpoint_id, id)
    where state in ('Failed', 'Errored', 'DeadLetter', 'Interrupted')`.execute(db)
}

/**
 * Attempts by delivery, unique within an endpoint: ended attempts keep the numbers of their deliveries, and a workspace
 * may move here from a database that has drawn the same ones. A migration of its own.
 */
export const byDelivery = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`drop index delivery_attempts_by_delivery`.execute(db)
    await sql`
      create unique index delivery_attempts_by_delivery on delivery_attempts (delivery_id, attempt_number, endpoint_id)
      where delivery_id is not null`.execute(db)
  },
}
