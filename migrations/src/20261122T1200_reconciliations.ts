import { type Kysely, sql } from 'kysely'

/** Runs that compare the list of a sender with what was captured, and bring what is missing. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table reconciliations (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      endpoint_id uuid not null references endpoints on delete cascade,
      sender text not null check (sender in ('stripe', 'github')),
      state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed')),
      phase text not null default 'listing' check (phase in ('listing', 'bringing', 'arriving')),
      since timestamptz not null,
      until timestamptz not null,
      -- A JSON list; empty for every type.
      types text not null,
      dry_run boolean not null,
      -- Sealed, and erased when the run ends.
      credentials bytea,
      -- Of the next page to list; null before the first.
      next_cursor text,
      page_count integer not null default 0,
      is_complete boolean not null default false,
      listed_count integer not null default 0,
      found_count integer not null default 0,
      missing_count integer not null default 0,
      redelivered_count integer not null default 0,
      captured_count integer not null default 0,
      refused_count integer not null default 0,
      too_old_count integer not null default 0,
      outstanding_count integer,
      -- A JSON list of types and how many of each are missing.
      missing_types text not null default '[]',
      error_code text,
      error_detail text,
      -- Calls to the sender in a row that failed.
      failure_count integer not null default 0,
      arrive_by timestamptz,
      -- The job that works on it now.
      lease_id uuid,
      -- When that job counts as dead; without one, when the next is due.
      due_at timestamptz not null,
      created_at timestamptz not null,
      started_at timestamptz,
      finished_at timestamptz
    );
    create index reconciliations_by_endpoint on reconciliations (endpoint_id, created_at desc, id desc);
    -- One at a time an endpoint.
    create unique index reconciliations_running on reconciliations (endpoint_id) where state = 'running';
    create index reconciliations_unfinished on reconciliations (workspace_id) where state in ('queued', 'running');

    create table reconciliation_events (
      reconciliation_id uuid not null references reconciliations on delete cascade,
      -- In the order of the list, from 1.
      position integer not null,
      event_id text not null,
      -- Keyed digest of the id, which a request has instead if rules took the id out.
      event_digest text,
      -- How the sender is asked for it: the id of a delivery, or the cursor of its page.
      reference text not null,
      event_type text not null,
      -- present, old, missing, asked, brought or refused.
      state text not null check (state in ('present', 'old', 'missing', 'asked', 'brought', 'refused')),
      primary key (reconciliation_id, event_id)
    );
    create index reconciliation_events_waiting on reconciliation_events (reconciliation_id, state, position)`.execute(
    db,
  )
}
