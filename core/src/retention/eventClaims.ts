import { updateCounters } from '../endpoints/index.ts'
import { type Db, run, statement } from '../platform/db/index.ts'
import { lockCounters } from '../requests/index.ts'
import { sweptRows } from './declarations.ts'
import { inBatches, type SweepServices, sweepTransaction } from './endpointsToSweep.ts'

/** Bytes that an event claim counts against the limits of storage: its row and two index entries take 200 to 224. */
export const CLAIM_BYTES = 224

/** Claims of one batch, which takes a few milliseconds. */
const BATCH_CLAIMS = 1000

/** Deletes claims whose window has ended. */
export async function sweepClaims(services: SweepServices, signal: AbortSignal): Promise<void> {
  const { db, clock } = services
  const endpoints = await db
    .selectFrom('endpointCounters')
    .where('claimCount', '>', 0)
    .select('endpointId')
    .execute()
  for (const { endpointId } of endpoints) {
    await inBatches(signal, async () => {
      const removed = await removeClaims(db, endpointId, { before: clock.now(), limit: BATCH_CLAIMS })
      return removed === BATCH_CLAIMS
    })
    if (signal.aborted) return
  }
}

/** Deletes every claim of a deleted endpoint. */
export async function purgeClaims(
  { db }: SweepServices,
  endpointId: string,
  signal: AbortSignal,
): Promise<void> {
  await inBatches(signal, async () => {
    const removed = await removeClaims(db, endpointId, { before: null, limit: BATCH_CLAIMS })
    return removed === BATCH_CLAIMS
  })
}

const MOST_CLAIMS = statement(
  'endpoint with the most claims',
  `select c.endpoint_id from endpoint_counters c join endpoints e on e.id = c.endpoint_id
  where c.claim_count > 0 and ($1::uuid is null or e.workspace_id = $1)
  order by c.claim_count desc limit 1`,
  { isPrepared: false },
)

/**
 * Deletes some claims of a workspace, or of all, to free storage: those that end first, of the endpoint with the most.
 * Their events are firsts if they are sent again.
 *
 * @returns the number of deleted claims; 0 if there are none left
 */
export async function evictClaims(
  { db }: SweepServices,
  workspaceId: string | null,
  bytes: number,
): Promise<number> {
  const rows = await run(db, MOST_CLAIMS, [workspaceId])
  const endpointId = rows[0]?.endpointId
  if (endpointId === undefined) return 0
  const limit = Math.min(BATCH_CLAIMS, Math.ceil(bytes / CLAIM_BYTES))
  return await removeClaims(db, endpointId, { before: null, limit })
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
  db: Db,
  endpointId: string,
  { before, limit }: { readonly before: Date | null; readonly limit: number },
): Promise<number> {
  return await sweepTransaction(db, async (trx) => {
    await lockCounters(trx, endpointId)
    const rows = await run(trx, REMOVE, [endpointId, before, limit])
    const removedCount = rows[0]?.removedCount ?? 0
    sweptRows.inc({ sweep: 'claims' }, removedCount)
    return removedCount
  })
}
