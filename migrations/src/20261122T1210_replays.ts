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
      -- The action that it goes through; null for a URL and for listeners.
      action_id uuid,
      -- When a listener was there last; null if the service sends the requests.
      listened_at timestamptz,
      created_at timestamptz not null,
      started_at timestamptz,
      finished_at timestamptz
    );
    create index replays_by_endpoint on replays (endpoint_id, created_at desc, id desc);
    create index replays_by_workspace on replays (workspace_id, state);
    create index replays_by_action on replays (action_id) where action_id is not null;

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
      -- How often it was begun, other than those that a stop cut off: more than once if a process died.
      attempts integer not null default 0,
      duration_ms integer,
      status_code integer,
      error text,
      -- A JSON list of pairs.
      headers text,
      body bytea,
      outcome text check (outcome in ('equal', 'changed', 'failed', 'slower')),
      -- A JSON list.
      differences text,
      -- While it is under way: when it counts as lost.
      lease_ends_at timestamptz,
      primary key (replay_id, position)
    );
    create index replay_items_by_state on replay_items (replay_id, state, position);
    create index replay_items_by_request on replay_items (replay_id, request_id, copy)`.execute(db)
}
