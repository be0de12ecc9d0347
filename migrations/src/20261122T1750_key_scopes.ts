import { type Kysely, sql } from 'kysely'

/** Adds scope, endpoint, expiry and networks of keys. Existing keys stay unrestricted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table api_keys
      add column scope text not null default 'admin' check (scope in ('read', 'write', 'admin')),
      -- The one endpoint that it is for; null: all of the workspace. Gone with the endpoint.
      add column endpoint_id uuid references endpoints on delete cascade,
      add column expires_at timestamptz,
      -- Networks that it may be used from, as CIDRs; null: from anywhere.
      add column allowed_networks text[] check (cardinality(allowed_networks) > 0),
      -- The key that took its place; it goes on until it expires, and counts no longer against the plan.
      add column replaced_by_id uuid`.execute(db)
  await sql`create index api_keys_by_endpoint on api_keys (endpoint_id) where endpoint_id is not null`.execute(
    db,
  )
}
