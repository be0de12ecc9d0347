import { type Kysely, sql } from 'kysely'

/** Types of events, and subscriptions of agents, whose events are sent to a callback. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- Made from the endpoint's name once: names of event types are identity.
    create table event_sources (
      endpoint_id uuid primary key references endpoints on delete cascade,
      workspace_id uuid not null references workspaces on delete cascade,
      slug text not null,
      -- A JSON list of paths that its events show by default; null until something was captured.
      fields text,
      fields_at timestamptz,
      unique (workspace_id, slug)
    );

    -- A listed type stays listed.
    create table event_labels (
      endpoint_id uuid not null references endpoints on delete cascade,
      label text not null,
      primary key (endpoint_id, label)
    );

    create table event_subscriptions (
      -- Derived from principal, callback, name and arguments.
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      endpoint_id uuid not null references endpoints on delete cascade,
      -- The first key of the rotation of key_id.
      principal_id uuid not null,
      -- The key that subscribed or refreshed last, and its address.
      key_id uuid not null references api_keys on delete cascade,
      address text,
      name text not null,
      -- Canonical JSON.
      arguments text not null,
      host text not null,
      callback_sha256 bytea not null,
      -- Sealed JSON: the URL and the secrets.
      callback bytea not null,
      -- Whether the callback knows messages that are no events.
      declares_extension boolean not null,
      -- Every request up to this one was looked at.
      read_position bigint not null,
      -- Whether events were skipped since the last refresh.
      is_truncated boolean not null default false,
      window_started_at timestamptz,
      window_count integer not null default 0,
      throttled_until timestamptz,
      created_at timestamptz not null,
      refreshed_at timestamptz not null,
      expires_at timestamptz not null,
      last_delivery_at timestamptz,
      last_error text check (last_error in (
        'connection_refused', 'timeout', 'tls_error', 'http_4xx', 'http_5xx', 'challenge_failed'
      )),
      failed_since timestamptz,
      sent_count bigint not null default 0,
      failed_count bigint not null default 0
    );
    create index event_subscriptions_by_workspace on event_subscriptions (workspace_id, created_at desc, id desc);
    create index event_subscriptions_by_endpoint on event_subscriptions (endpoint_id);
    create index event_subscriptions_by_key on event_subscriptions (key_id);

    create table event_deliveries (
      id bigint generated always as identity primary key,
      subscription_id uuid not null references event_subscriptions on delete cascade,
      -- Of the event; null for a message that is no event.
      request_id bigint,
      message_id text not null,
      hops integer not null default 0,
      -- What is sent; erased when it was.
      body text,
      -- waiting, sent or failed.
      state text not null default 'waiting' check (state in ('waiting', 'sent', 'failed')),
      -- Of each attempt, as a JSON list.
      attempts text not null default '[]',
      next_at timestamptz not null,
      -- While an attempt is under way.
      leased_until timestamptz,
      unique (subscription_id, request_id)
    );
    create index event_deliveries_waiting on event_deliveries (subscription_id, id) where state = 'waiting';
    create index event_deliveries_of on event_deliveries (subscription_id, id desc)`.execute(db)
}
