import { type Kysely, sql } from 'kysely'

/** Adds the endpoints that a relay has given to strangers, with the addresses that asked for them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table relay_endpoints (
      endpoint_id uuid primary key,
      -- Holds this endpoint alone. No reference: the row outlives both, so that the rate of its address is known.
      workspace_id uuid not null,
      -- The asking address; of IPv6 its /64.
      address text not null,
      created_at timestamptz not null
    )`.execute(db)
  await sql`create index relay_endpoints_by_address on relay_endpoints (address, created_at)`.execute(db)
}
