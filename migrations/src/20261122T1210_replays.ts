import { type Kysely, sql } from 'kysely'

/** Replays of many requests: what they send, and what was answered. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table replays (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      endpoint_id uuid not null references endpoints on delete cascade,
      state text not null check (state in ('queued', 'running', 'paused', 'done', 'cancelled', 'failed')),
      reason text,
      -- What the API took, as JSON.
      options text not null,
      seed bigint not null,
      request_count integer not null,
      dropped_count integer not null,
      send_count integer not null,
      planned_ms bigint not null,
      -- Bytes of the kept bodies of answers.
      answer_bytes bigint not null default 0,
      -- When a send that is due at 0 ms would have gone out; null before the first, and after a pause.
      base_at timestamptz,
      -- The job that works on it now.
      lease_id uuid,
      -- When that job counts as lost; without one, when the next is due.
      due_at timestamptz not null,
      created_at timestamptz not null,
      started_at timestamptz,
      finished_at timestamptz
    );
    create index replays_by_endpoint on replays (endpoint_id, created_at desc, id desc);
    create index replays_by_workspace on replays (workspace_id, state);

    create table replay_items (
      replay_id uuid not null references replays on delete cascade,
      -- The order of the sends, from 1.
      position integer not null,
      request_id bigint not null,
      fault text check (fault in ('duplicate', 'reorder', 'late', 'bad-signature')),
      copy integer not null,
      due_ms bigint not null,
      -- waiting, sending, done or errored.
      state text not null default 'waiting' check (state in ('waiting', 'sending', 'done', 'errored')),
      sent_at timestamptz,
      duration_ms integer,
      status_code integer,
      error text,
      -- A JSON list of pairs.
      headers text,
      body bytea,
      outcome text check (outcome in ('equal', 'changed', 'failed', 'slower')),
      -- A JSON list.
      differences text,
      -- Null for requests that a job of the service sends: the replay has the lease of the job.
      lease_ends_at timestamptz,
      primary key (replay_id, position)
    );
    create index replay_items_by_state on replay_items (replay_id, state, position);
    create index replay_items_by_request on replay_items (replay_id, request_id, copy)`.execute(db)
}
