import { type Kysely, sql } from 'kysely'

/** Settings and counters of endpoints, and the endpoints of a relay. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table endpoints
      add column reject_unverified boolean not null default false,
      -- A JSON list of networks; empty: from anywhere.
      add column allowed_senders text not null default '[]',
      add column capture_id uuid unique,
      -- The one before, which goes on until then.
      add column previous_capture_id uuid unique,
      add column previous_capture_until timestamptz,
      add constraint previous_capture_ends check ((previous_capture_id is null) = (previous_capture_until is null)),
      add column event_id_path text,
      -- JSON; null where an endpoint takes every event.
      add column dedupe text,
      -- A constant default rewrites no row.
      add column allow_rehearsal boolean not null default true,
      add column allow_cors boolean not null default false,
      -- JSON: rule documents, or the steps of one rule.
      add column store_rules text not null default '[]',
      -- JSON: names of headers.
      add column drop_headers text not null default '[]',
      -- JSON: an ordered list.
      add column responses text not null default '[]',
      -- Names the present counting of \`times\`. Another list, or a reset, has another run.
      add column responses_run uuid,
      -- JSON.
      add column answer_from text,
      -- JSON: paths whose values lists of requests show.
      add column columns text not null default '[]',
      add column forward_original boolean not null default false,
      -- Null: the default.
      add column original_hours integer;

    alter table endpoint_counters
      add column window_bytes bigint not null default 0,
      add column refused_count bigint not null default 0,
      add column last_refused_at timestamptz,
      add column last_refusal text,
      add column bin_evicted_count bigint not null default 0,
      add column bin_evicted_at timestamptz,
      -- Always equals the rows of event_claims.
      add column claim_count bigint not null default 0,
      add column discarded_count bigint not null default 0,
      add column last_discarded_at timestamptz,
      -- The largest id of a request that a limit or the retention removed. A constant default rewrites no row.
      add column removed_up_to bigint not null default 0,
      -- A request without a count has the bytes of its body and 1 KiB.
      add column storage_bytes bigint not null default 0;
    update endpoint_counters set storage_bytes = stored_bytes + 1024 * stored_request_count::bigint
    where stored_request_count > 0;

    create table rejection_minutes (
      endpoint_id uuid not null references endpoints on delete cascade,
      minute timestamptz not null,
      rejected_count bigint not null,
      discarded_count bigint not null default 0,
      primary key (endpoint_id, minute)
    );

    create table response_uses (
      endpoint_id uuid not null references endpoints on delete cascade,
      run_id uuid not null,
      -- Index of the response in the list.
      position integer not null,
      -- May exceed the response's \`times\`: the answers beyond it were given by others.
      used bigint not null,
      primary key (endpoint_id, run_id, position)
    );

    create table relay_endpoints (
      endpoint_id uuid primary key,
      -- Holds this endpoint alone. No reference: the row outlives both, so that the rate of its address is known.
      workspace_id uuid not null,
      -- The asking address; of IPv6 its /64.
      address text not null,
      created_at timestamptz not null
    );
    create index relay_endpoints_by_address on relay_endpoints (address, created_at)`.execute(db)
}
