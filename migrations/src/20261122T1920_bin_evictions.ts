import { type Kysely, sql } from 'kysely'

/** Deleted requests that went before their time in the recycle bin was over, because the limit of storage was reached. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table endpoint_counters
      add column bin_evicted_count bigint not null default 0,
      add column bin_evicted_at timestamptz`.execute(db)
}
