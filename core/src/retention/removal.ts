import { sql } from 'kysely'
import type { Trx } from '../platform/db/index.ts'

/** Which requests of an endpoint go for good. */
export interface Removal {
  readonly endpointId: string
  readonly ids: readonly number[]
  /** Only those that are still there: `stored`, `binned`, or `hidden` (waiting for their deliveries to end). */
  readonly state: 'stored' | 'binned' | 'hidden'
}

const STATES = {
  stored: sql<boolean>`r.deleted_at is null and r.hidden_at is null`,
  binned: sql<boolean>`r.deleted_at is not null and r.hidden_at is null`,
  hidden: sql<boolean>`r.hidden_at is not null`,
} as const

/**
 * Deletes requests and keeps the counters equal to the rows. The caller holds the counters; a request that changed
 * its state meanwhile is passed over.
 *
 * @returns the ids that went
 */
export async function removeRequests(trx: Trx, { endpointId, ids, state }: Removal): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    with removed as (
      delete from requests r
      where r.endpoint_id = ${endpointId} and r.id = any(${ids}::bigint[]) and ${STATES[state]}
      returning r.id, octet_length(r.body) as bytes
    ), summed as (select count(*)::int as removed_count, coalesce(sum(bytes), 0) as bytes from removed),
    counted as (${counted(endpointId, state)})
    select id from removed`.execute(trx)
  return rows.map(({ id }) => id)
}

/**
 * Hides binned or stored requests whose deliveries are still due: they leave the bin or the lists now, and are deleted
 * when those have ended.
 *
 * @returns the ids that were hidden
 */
export async function hideUndelivered(
  trx: Trx,
  { endpointId, ids, state, now }: Removal & { readonly state: 'stored' | 'binned'; readonly now: Date },
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    with removed as (
      update requests r set hidden_at = ${now}
      where r.endpoint_id = ${endpointId} and r.id = any(${ids}::bigint[]) and ${STATES[state]}
        and exists (
          select from deliveries d
          where d.endpoint_id = r.endpoint_id and d.request_id = r.id and d.finished_at is null
        )
      returning r.id, octet_length(r.body) as bytes
    ), summed as (select count(*)::int as removed_count, coalesce(sum(bytes), 0) as bytes from removed),
    counted as (${counted(endpointId, state)})
    select id from removed`.execute(trx)
  return rows.map(({ id }) => id)
}

function counted(endpointId: string, state: Removal['state']) {
  switch (state) {
    case 'stored':
      return sql`
        update endpoint_counters set
          stored_request_count = stored_request_count - removed_count, stored_bytes = stored_bytes - bytes
        from summed where endpoint_id = ${endpointId} and removed_count > 0`
    case 'binned':
      return sql`
        update endpoint_counters set binned_request_count = binned_request_count - removed_count
        from summed where endpoint_id = ${endpointId} and removed_count > 0`
    case 'hidden':
      // Not counted since they were hidden.
      return sql`select`
  }
}

/** Drops every delivery of requests that are gone, dead letters too: there is nothing left that they could send. */
export async function removeDeliveries(
  trx: Trx,
  endpointId: string,
  requestIds: readonly number[],
): Promise<void> {
  await sql`
    delete from deliveries
    where endpoint_id = ${endpointId} and request_id = any(${requestIds}::bigint[])`.execute(trx)
}

/** Forgets what was delivered of requests that a person deleted: runs, attempts and their records. */
export async function removeDeliveryRecords(
  trx: Trx,
  endpointId: string,
  requestIds: readonly number[],
): Promise<void> {
  await removeDeliveries(trx, endpointId, requestIds)
  for (const table of ['attempt_details', 'delivery_attempts'] as const) {
    await sql`
      delete from ${sql.table(table)}
      where endpoint_id = ${endpointId} and request_id = any(${requestIds}::bigint[])`.execute(trx)
  }
}
