import { type Kysely, sql } from 'kysely'

/** Adds moves of workspaces to other cells. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Until then the workspace takes neither captures nor calls, and begins no attempts: it is about to be in another cell.
  await sql`alter table workspaces add column sealed_until timestamptz`.execute(db)
  await sql`
    create table workspace_moves (
      id uuid primary key,
      -- No reference: the row outlives the workspace here, and says where it went.
      workspace_id uuid not null,
      workspace_name text not null,
      to_cell text not null,
      state text not null check (state in ('copying', 'switching', 'moved', 'purged', 'aborted')),
      -- JSON: the endpoints whose rows are copied, and where the first pass continues.
      progress text not null,
      copied_rows bigint not null default 0,
      started_at timestamptz not null,
      changed_at timestamptz not null,
      sealed_ms integer
    )`.execute(db)
  await sql`
    create unique index workspace_moves_under_way on workspace_moves (workspace_id)
    where state in ('copying', 'switching')`.execute(db)
}
