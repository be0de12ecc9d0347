import { type Kysely, sql } from 'kysely'

/** Facts of requests beside their bytes, with their events, originals and imports. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table requests alter column id set default nextval('request_ids');

    alter table requests
      -- Captures leave out imported, reconciled and duplicate_of. A constant default rewrites no row.
      add column imported boolean not null default false,
      add column reconciled boolean not null default false,
      add column storage_bytes integer,
      add column event_id text,
      -- The first request of the same event, which may be gone.
      add column duplicate_of bigint,
      -- JSON: the paths that were taken out, and the fault of a trace. Null for a capture that is stored as it came.
      add column redaction text,
      -- JSON; null: the endpoint's own answer.
      add column answered_by text,
      -- Text of a body that arrived encoded, which searches read.
      add column decoded_text text,
      -- JSON: values of the body by their paths, for the columns of the endpoint.
      add column column_values text,
      -- What people noted on it, in UTF-8; sealed where the content is. Captures leave it out.
      add column note bytea;

    -- The index has the order of the list, and no entry for requests without an id.
    create index requests_by_event on requests (endpoint_id, event_id, id) where event_id is not null;

    -- One row an event that was stored, until its window ends. Without a foreign key, as requests are.
    create table event_claims (
      endpoint_id uuid not null,
      -- 128 bits of a digest of the event's id, the place of the id, and the class of the verdict.
      key uuid not null,
      first_request_id bigint not null,
      expires_at timestamptz not null,
      primary key (endpoint_id, key)
    );
    create index event_claims_expiring on event_claims (endpoint_id, expires_at);

    create table request_originals (
      endpoint_id uuid not null,
      request_id bigint not null,
      -- Sealed with the key in creel_keys.original_keys.
      original bytea not null,
      -- What a receiver answered to it, for its sender; sealed with the same key.
      answer bytea,
      expires_at timestamptz not null,
      primary key (endpoint_id, request_id)
    );
    create index request_originals_expiring on request_originals (expires_at);

    -- A schema of its own: a backup of the others does not have the keys, so what they seal ends with them.
    create schema creel_keys;

    create table creel_keys.original_keys (
      id uuid primary key,
      workspace_id uuid not null,
      endpoint_id uuid not null,
      request_id bigint not null,
      -- Sealed with the key of the installation.
      original_key bytea not null,
      unique (endpoint_id, request_id)
    );

    create table imports (
      id uuid primary key,
      endpoint_id uuid not null references endpoints on delete cascade,
      -- Every line is checked, and all are stored from now on.
      is_accepted boolean not null default false,
      -- When another process may take it for abandoned.
      due_at timestamptz not null
    );
    create index imports_endpoint on imports (endpoint_id);

    create table import_batches (
      import_id uuid not null references imports on delete cascade,
      number integer not null,
      -- A JSON list of rows without their bodies.
      heads text not null,
      -- The bodies, one after the other.
      bodies bytea not null,
      primary key (import_id, number)
    );
    -- Uncompressed, so that one body is read without the others.
    alter table import_batches alter column bodies set storage external;

    -- Requests that connected listeners are asked to send again. They are useless after minutes, and then deleted.
    create table listener_replays (
      id bigint generated always as identity primary key,
      endpoint_id uuid not null references endpoints on delete cascade,
      request_id bigint not null,
      created_at timestamptz not null,
      -- When a listener first said what its server had answered.
      reported_at timestamptz
    );
    create index listener_replays_by_endpoint on listener_replays (endpoint_id, id)`.execute(db)
}
