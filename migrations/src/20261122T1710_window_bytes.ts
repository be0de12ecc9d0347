import { type Kysely, sql } from 'kysely'

/** Limits captures by their bytes, in the same window as their count. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table endpoint_counters add column window_bytes bigint not null default 0`.execute(db)
}
