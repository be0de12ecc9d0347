import { type Kysely, sql } from 'kysely'

/** Counts deleted requests that left the recycle bin before their time, because the limit of storage was reached. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table endpoint_counters
      add column bin_evicted_count bigint not null default 0,
      add column bin_evicted_at timestamptz`.execute(db)
}
