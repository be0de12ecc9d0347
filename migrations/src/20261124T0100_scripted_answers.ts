import { type Kysely, sql } from 'kysely'

/** Adds the scripted and relayed answers of endpoints, and what answered a request. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table endpoints
      -- JSON: an ordered list.
      add column responses text not null default '[]',
      -- Names the present counting of \`times\`. Another list, or a reset, has another run.
      add column responses_run uuid,
      -- JSON.
      add column answer_from text`.execute(db)
  await sql`
    create table response_uses (
      endpoint_id uuid not null references endpoints on delete cascade,
      run_id uuid not null,
      -- Index of the response in the list.
      position integer not null,
      -- May exceed the response's \`times\`: the answers beyond it were given by others.
      used bigint not null,
      primary key (endpoint_id, run_id, position)
    )`.execute(db)
  // JSON; null: the endpoint's own answer.
  await sql`alter table requests add column answered_by text`.execute(db)
}
