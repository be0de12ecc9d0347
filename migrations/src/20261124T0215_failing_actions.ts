import { type Kysely, sql } from 'kysely'

/** Failures of each action since its last success, for alerts before the last retry. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table failing_actions (
      action_id uuid primary key,
      workspace_id uuid not null,
      -- The first failure after the last success.
      since timestamptz not null,
      attempts integer not null,
      -- Request and error of the newest failure.
      request_id bigint not null,
      error text
    )`.execute(db)
}
