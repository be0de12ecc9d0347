import { sql } from 'kysely'
import type { Trx } from '../db/index.ts'

/** Tells every process that the endpoint's settings changed, once the transaction commits. */
export async function announceEndpointChange(trx: Trx, id: string): Promise<void> {
  await sql`select pg_notify('creel_endpoints', ${id})`.execute(trx)
}
