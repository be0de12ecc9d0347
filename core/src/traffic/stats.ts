import { z } from 'zod'
import type { Context } from '../api/context.ts'
import { notFound } from '../api/errors.ts'
import { withExample } from '../api/examples.ts'
import { Timestamp } from '../api/values.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { run, statement } from '../platform/db/index.ts'
import { HOUR_MS } from '../platform/time/index.ts'
import { searching } from '../requests/index.ts'
import { idBefore } from './queries.ts'

/** Storage, traffic and delivery backlog of an endpoint. */
export const EndpointStats = withExample(
  'EndpointStats',
  z.object({
    endpointId: z.uuid(),
    storage: z.object({
      storedRequestCount: z.int(),
      storedRequestsMax: z.int(),
      storedBytes: z.int().describe('Bodies of stored requests'),
      binnedRequestCount: z.int(),
      evictedCount: z.int().describe('Lost to the cap since creation'),
      oldestRequestAt: Timestamp.nullable(),
    }),
    traffic: z.object({
      lastRequestAt: Timestamp.nullable(),
      requestsLastHourCount: z.int().describe('Of the stored requests'),
      requestsLastDayCount: z.int().describe('Of the stored requests'),
      rejectedCount: z.int().describe('Captures answered 429 since creation'),
      lastRejectedAt: Timestamp.nullable(),
      refusedCount: z.int().describe('Captures refused with 401 or 403 since creation'),
      lastRefusedAt: Timestamp.nullable(),
      discardedCount: z.int().describe('Duplicates that `dedupe` counted and did not store, since creation'),
      lastDiscardedAt: Timestamp.nullable(),
      lastRefusal: z.string().nullable().describe('Sender of the latest refused capture, and the reason'),
    }),
    retention: z.object({ retentionDays: z.int(), expiresAt: Timestamp.nullable() }),
    backlog: z.object({
      pendingCount: z.int(),
      retryingCount: z.int(),
      parkedCount: z.int(),
      oldestPendingAt: Timestamp.nullable(),
      nextAttemptAt: Timestamp.nullable(),
    }),
  }),
)

const STATS = statement(
  'stats of endpoint',
  `select c.stored_request_count, c.stored_bytes, c.binned_request_count, c.evicted_count, c.rejected_count,
         c.last_rejected_at, c.refused_count, c.last_refused_at, c.last_refusal, c.discarded_count, c.last_discarded_at,
         c.last_request_at, oldest.received_at as oldest_request_at,
         day.last_hour as requests_last_hour_count, day.last_day as requests_last_day_count,
         open.pending_count, open.retrying_count, open.oldest_pending_at, open.next_attempt_at,
         parked.parked_count
  from endpoint_counters c
  cross join lateral (
    -- Captures have increasing ids; imported requests have any earlier time.
    select min(received_at) as received_at from (
      (select received_at from requests
      where c.stored_request_count > 0 and endpoint_id = c.endpoint_id and id >= c.oldest_request_id and deleted_at is null and hidden_at is null
      order by id limit 1)
      union all
      (select received_at from requests
      where c.stored_request_count > 0 and endpoint_id = c.endpoint_id and imported and deleted_at is null and hidden_at is null
      order by received_at limit 1)
    ) first
  ) oldest
  cross join lateral (${idBefore('c.endpoint_id', '$2::timestamptz')}) before
  cross join lateral (
    select count(*)::int as last_day,
           count(*) filter (where received_at > $1)::int as last_hour
    from requests
    where endpoint_id = c.endpoint_id and id > before.id and deleted_at is null and hidden_at is null
      and received_at > $2
  ) day
  cross join lateral (
    select count(*) filter (where attempt_count = 0)::int as pending_count,
           count(*) filter (where attempt_count > 0)::int as retrying_count,
           min(created_at) as oldest_pending_at, min(next_attempt_at) as next_attempt_at
    from deliveries where endpoint_id = c.endpoint_id and finished_at is null
  ) open
  cross join lateral (
    -- Not a join, for which all requests may be walked where statistics are missing.
    select count(*)::int as parked_count from deliveries d
    where d.endpoint_id = c.endpoint_id and d.dead_lettered_at is not null and (
      select r.deleted_at is null and r.hidden_at is null from requests r
      where r.endpoint_id = d.endpoint_id and r.id = d.request_id)
  ) parked
  where c.endpoint_id = $3`,
  { isPrepared: false },
)

/** Reads the counters, the window of the last day, and the deliveries that are still due or dead letters. */
export async function endpointStats(ctx: Context, endpoint: EndpointRow) {
  const now = ctx.clock.now().getTime()
  const times = [new Date(now - HOUR_MS), new Date(now - 24 * HOUR_MS)]
  const [row] = await searching(ctx, `stats ${endpoint.id}`, (db, options) =>
    run(db, STATS, [...times, endpoint.id], options),
  )
  if (row === undefined) throw notFound('endpoint')
  return {
    endpointId: endpoint.id,
    storage: { ...row, storedRequestsMax: ctx.plan.limits.storedRequestsMax },
    traffic: row,
    retention: { retentionDays: ctx.plan.limits.retentionDays, expiresAt: endpoint.expiresAt },
    backlog: row,
  }
}
