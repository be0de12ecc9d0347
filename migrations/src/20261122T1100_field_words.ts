import { type Kysely, sql } from 'kysely'

/** Renames columns to the words of code and documents. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table alert_deliveries rename column try_count to attempt_count;
    alter table alert_deliveries rename column tries_max to attempts_max;
    alter table alert_deliveries rename column next_try_at to next_attempt_at;
    alter table deliveries rename column parked_at to dead_lettered_at`.execute(db)
}
