import { type Kysely, sql } from 'kysely'

/** Minutes in which captures were refused for the rate of their endpoint: a row for each. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table rejection_minutes (
      endpoint_id uuid not null references endpoints on delete cascade,
      minute timestamptz not null,
      rejected_count bigint not null,
      primary key (endpoint_id, minute)
    )`.execute(db)
}
