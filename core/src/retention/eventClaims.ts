import { updateCounters } from '../endpoints/index.ts'
import { run, statement, type Trx } from '../platform/db/index.ts'
import { lockCounters } from '../requests/index.ts'
import { sweptRows } from './declarations.ts'
import {
  type EndpointToSweep,
  type Eviction,
  evictEach,
  inBatches,
  type SweepServices,
  sweepTransaction,
} from './endpointsToSweep.ts'

/** Bytes that an event claim counts against the limits of storage: its row and two index entries take 200 to 224. */
export const CLAIM_BYTES = 224

/** Claims of one batch, which takes a few milliseconds. */
const BATCH_CLAIMS = 1000

/** Deletes claims whose window has ended. */
export async function sweepClaims(
  services: SweepServices,
  { endpointId, hasClaims }: EndpointToSweep,
  signal: AbortSignal,
): Promise<void> {
  if (hasClaims) await purgeClaims(services, endpointId, signal, services.clock.now())
}

/** Deletes claims of an endpoint: those whose window has ended by a time, or all. */
export async function purgeClaims(
  { db }: SweepServices,
  endpointId: string,
  signal: AbortSignal,
  before: Date | null = null,
): Promise<void> {
  await inBatches(signal, async () => {
    const claims = { before, limit: BATCH_CLAIMS }
    return (await sweepTransaction(db, (trx) => removeClaims(trx, endpointId, claims))) === BATCH_CLAIMS
  })
}

const MOST_CLAIMS = statement(
  'endpoint with the most claims',
  `select c.endpoint_id from endpoint_counters c join endpoints e on e.id = c.endpoint_id
  where c.claim_count > 0 and ($1::uuid is null or e.workspace_id = $1) and e.id <> all($2::uuid[])
  order by c.claim_count desc limit 1`,
  { isPrepared: false },
)

/**
 * Deletes some claims of a workspace, or of all, to free storage: those that end first, of the endpoint with the most.
 * Their events are firsts if they are sent again.
 *
 * @returns the number of deleted claims; 0 if there are none left
 */
export async function evictClaims(eviction: Eviction, bytes: number): Promise<number> {
  const claims = { before: null, limit: Math.min(BATCH_CLAIMS, Math.ceil(bytes / CLAIM_BYTES)) }
  const most = (of: readonly unknown[]) => run(eviction.db, MOST_CLAIMS, of)
  let removed = 0
  await evictEach(eviction, most, async (trx, endpointId) => {
    removed = await removeClaims(trx, endpointId, claims)
  })
  return removed
}

const REMOVE = statement(
  'remove claims',
  `with removed as (
    delete from event_claims
    where ctid = any(array(
      select ctid from event_claims
      where endpoint_id = $1 and ($2::timestamptz is null or expires_at <= $2::timestamptz)
      order by expires_at limit $3
    ))
    returning 1
  ), counted as (
    ${updateCounters({ unclaimed: 'select count(*) from removed' })}
    where c.endpoint_id = $1 and exists (select from removed)
  )
  select count(*)::int as removed_count from removed`,
  { isPrepared: false },
)

/**
 * Deletes the claims that end first and updates the counter. Locks in the order of captures: the counters, then the
 * claims.
 */
async function removeClaims(
  trx: Trx,
  endpointId: string,
  { before, limit }: { readonly before: Date | null; readonly limit: number },
): Promise<number> {
  await lockCounters(trx, endpointId)
  const rows = await run(trx, REMOVE, [endpointId, before, limit])
  const removedCount = rows[0]?.removedCount ?? 0
  sweptRows.inc({ sweep: 'claims' }, removedCount)
  return removedCount
}
