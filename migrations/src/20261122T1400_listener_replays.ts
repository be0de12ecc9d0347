import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // Requests that connected listeners are asked to send again. They are useless after minutes, and then deleted.
  await sql`
    create table listener_replays (
      id bigint generated always as identity primary key,
      endpoint_id uuid not null references endpoints on delete cascade,
      request_id bigint not null,
      created_at timestamptz not null,
      -- When a listener first said what its server had answered.
      reported_at timestamptz
    )`.execute(db)
  await sql`create index listener_replays_by_endpoint on listener_replays (endpoint_id, id)`.execute(db)
}
