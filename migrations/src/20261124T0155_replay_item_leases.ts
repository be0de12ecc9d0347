import { type Kysely, sql } from 'kysely'

/** Gives each request that a listener takes a lease, after which it is given again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Null for requests that a job of the service sends: the replay has the lease of the job.
  await sql`alter table replay_items add column lease_ends_at timestamptz`.execute(db)
}
