import { updateCounters } from '../endpoints/index.ts'
import { type Db, encodeArray, INT4, INT8, type RowsOf, run, statement, UUID } from '../platform/db/index.ts'
import { type CaptureSettings, captureWindowRuns, takesCaptures, WINDOW_SECONDS } from './captureSettings.ts'
import { REJECTION_ALERT_SECONDS } from './rejections.ts'

/**
 * Counts refused captures of endpoints that are still over their rate, under the same settings: `$1` ids, `$2`
 * revisions, `$3` counts, `$4` captures and `$5` bytes that a window may hold, `$6` see `aheadMs`. Other endpoints are
 * not counted, and not in the result.
 */
const COUNT_REFUSED = statement(
  'count refused captures',
  `with clock as (
    select statement_timestamp() + $6::bigint * interval '1 ms' as now
  ),
  locked as (
    select c.endpoint_id from endpoint_counters c
    where c.endpoint_id = any ($1::uuid[]) order by c.endpoint_id for update
  ),
  counted as (
    ${updateCounters({ rejected: { count: 'r.count', lastAt: '(select now from clock)' } })}
    from locked l
    join unnest($1::uuid[], $2::integer[], $3::integer[], $4::integer[], $5::bigint[])
      as r (endpoint_id, revision, count, captures_max, bytes_max) on r.endpoint_id = l.endpoint_id
    join endpoints e on e.id = r.endpoint_id
    join endpoint_revisions v on v.endpoint_id = r.endpoint_id and v.revision = r.revision
    where c.endpoint_id = r.endpoint_id
      and ${takesCaptures('(select now from clock)')}
      and ${captureWindowRuns('(select now from clock)')}
      and (c.window_count >= r.captures_max or c.window_bytes >= r.bytes_max)
    returning c.endpoint_id, c.window_started_at, c.rejection_alerted_at
  )
  select endpoint_id,
    ceil(extract(epoch from window_started_at + interval '${WINDOW_SECONDS} s' - (select now from clock)))::integer
      as retry_after_seconds,
    coalesce(rejection_alerted_at <= (select now from clock) - interval '${REJECTION_ALERT_SECONDS} s', true) as rejecting
  from counted`,
  { notNull: ['retryAfterSeconds'] },
)

/** The counted refusals of an endpoint that is over its rate. `rejecting`: whether an alert about them is due. */
export type CountedRefusal = RowsOf<typeof COUNT_REFUSED>

/** Counts refusals of endpoints that are still over their rate. Other endpoints are absent from the result. */
export async function countRefused(
  db: Db,
  refused: readonly { readonly settings: CaptureSettings; readonly count: number }[],
  aheadMs: number,
): Promise<readonly CountedRefusal[]> {
  const rows = await run(db, COUNT_REFUSED, [
    encodeArray(UUID, refused, ({ settings }) => settings.endpointId),
    encodeArray(INT4, refused, ({ settings }) => settings.revision),
    encodeArray(INT4, refused, ({ count }) => count),
    encodeArray(INT4, refused, ({ settings }) => settings.captureRatePerMinute),
    encodeArray(INT8, refused, ({ settings }) => settings.captureBytesPerMinute),
    aheadMs,
  ])
  return rows.map((row) => ({
    ...row,
    retryAfterSeconds: Math.min(WINDOW_SECONDS, Math.max(1, row.retryAfterSeconds)),
  }))
}
