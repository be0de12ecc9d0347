import { type Kysely, sql } from 'kysely'

/**
 * Counts every stored byte. A row has its own count, so that removing it subtracts exactly what storing it added.
 * Existing rows have no count yet: this migration neither reads nor rewrites them. Sweeps count them in batches;
 * `uncounted_rows` has their progress, and is empty in the end.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table requests add column storage_bytes integer`.execute(db)
  await sql`alter table delivery_attempts add column storage_bytes integer`.execute(db)
  await sql`alter table attempt_details add column storage_bytes integer`.execute(db)

  // A request without a count has the bytes of its body and 1 KiB.
  await sql`alter table endpoint_counters add column storage_bytes bigint not null default 0`.execute(db)
  await sql`
    update endpoint_counters set storage_bytes = stored_bytes + 1024 * stored_request_count::bigint
    where stored_request_count > 0`.execute(db)

  // The bytes of an endpoint's attempts are the sum of its rows. Deliveries and sweeps only add rows, so they never
  // wait for each other, nor for captures, which lock the counters. When limits are checked, the rows are merged into
  // one.
  await sql`create table attempt_bytes (endpoint_id uuid not null, bytes bigint not null)`.execute(db)

  await sql`
    create table uncounted_rows (
      endpoint_id uuid not null references endpoints on delete cascade,
      -- requests or attempts
      kind text not null,
      -- Rows with higher ids are counted.
      up_to bigint not null,
      primary key (endpoint_id, kind)
    )`.execute(db)
  await sql`
    insert into uncounted_rows (endpoint_id, kind, up_to)
    select id, 'requests', (select last_value from request_ids) from endpoints
    union all
    select id, 'attempts',
      coalesce(pg_sequence_last_value(pg_get_serial_sequence('delivery_attempts', 'id')::regclass), 0) from endpoints`.execute(
    db,
  )
}
