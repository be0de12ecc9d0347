import { type Kysely, sql } from 'kysely'

/** Captures are limited by their bytes in the window that counts them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table endpoint_counters add column window_bytes bigint not null default 0`.execute(db)
}
