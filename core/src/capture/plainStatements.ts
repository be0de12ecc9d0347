import { hasRecords, withSentBodies } from '../deliveries/index.ts'
import { type CounterChange, SEES_RESTORED, updateCounters } from '../endpoints/index.ts'
import { storageBytesOf } from '../requests/index.ts'
import { captureWindowRuns, takesCaptures } from './captureSettings.ts'
import { COLUMN_NAMES } from './requestColumns.ts'

/**
 * The most requests that one statement evicts beyond those that it stores: few enough that captures of other endpoints,
 * which wait for the statement, are not held up.
 */
export const EVICTED_AT_ONCE = 1000

/**
 * The database's clock, which all gateways share: their rate windows must not differ with their own clocks. `$6` is how
 * far the process's clock is set ahead; it is 0 except in tests.
 */
const NOW = `(statement_timestamp() + $6::bigint * interval '1 ms')`
const WINDOW_RUNS = captureWindowRuns(NOW)

/** SQL for whether the endpoint takes captures and they were evaluated under its present settings. */
const IS_OPEN = `v.revision = $2::integer and ${takesCaptures(NOW)}`

const WINDOW = {
  startedAt: `case when ${WINDOW_RUNS} then c.window_started_at else ${NOW} end`,
  count: `case when ${WINDOW_RUNS} then c.window_count else 0 end + $3::integer`,
  bytes: `case when ${WINDOW_RUNS} then c.window_bytes else 0 end + $4::bigint`,
}

const COUNTED = {
  requestAt: '$5::timestamptz',
  window: WINDOW,
  claimed: '$11::integer',
} satisfies CounterChange

const IS_WITHIN_RATE = `${WINDOW.count} <= $8::integer and ${WINDOW.bytes} <= $9::bigint`

/**
 * Counts `$3` captures with bodies of `$4` bytes on the endpoint `$1`, the last received at `$5`. This locks its
 * counter row until the commit, so that ids which rows draw after it are in commit order. `$7`, `$8` and `$9` are the
 * plan's cap, rate and bytes a minute under the revision `$2`. `$10` are the bytes that count against the limits of
 * storage. `$11` is the number of events that {@link CLAIM_EVENTS} claims in the same transaction.
 *
 * If the endpoint is not open, or would be over its cap or rate, no row is counted. The division by zero then fails the
 * whole transaction, and the general statement decides capture by capture.
 */
export const COUNT = `
with counted as (
  ${updateCounters({
    ...COUNTED,
    stored: { requests: '$3::integer', bytes: '$4::bigint', storageBytes: '$10::bigint' },
  })}
  from endpoints e
  join endpoint_revisions v on v.endpoint_id = e.id
  where c.endpoint_id = $1::uuid and e.id = $1::uuid and v.endpoint_id = $1::uuid
    and ${IS_OPEN}
    and c.stored_request_count + $3::integer <= $7::integer
    and ${IS_WITHIN_RATE}
  returning c.endpoint_id
)
select 1 / count(*), 0 as evicted from counted`

/** Whether the endpoint has records of attempts. Endpoints without deliveries pay only this lookup for a batch. */
const HAS_RECORDS = hasRecords('array[$1::uuid]')

/**
 * The same for an endpoint at its cap. It deletes the oldest requests that the new ones displace, from the low-water
 * mark on. Rows are addressed by ctid, because they were just found. The records of their attempts keep the sent
 * bodies. It fails if a request has open deliveries and must be hidden, if unseen rows of other gateways exceed the
 * cap, or at once if a lowered cap leaves too many: the general statement does all of it.
 */
export const COUNT_AND_EVICT = `
with locked as (
  select c.oldest_request_id, c.stored_request_count + $3::integer - $7::integer as excess,
         ${SEES_RESTORED} as sees_restored
  from endpoint_counters c where c.endpoint_id = $1::uuid for update
),
oldest as (
  select r.id, r.row_at
  from locked l
  cross join lateral (
    select r.id, r.ctid as row_at
    from requests r
    where r.endpoint_id = $1::uuid and r.id >= l.oldest_request_id and r.deleted_at is null and r.hidden_at is null
    order by r.id
    limit case when l.excess > ${EVICTED_AT_ONCE} then 0 else greatest(0, l.excess) end
  ) r
),
dropped as (
  delete from requests r using oldest o
  where r.ctid = o.row_at and r.deleted_at is null and r.hidden_at is null and not exists (
    select from deliveries d where d.endpoint_id = $1::uuid and d.request_id = o.id and d.finished_at is null)
  returning r.endpoint_id, r.id, r.imported, case when ${HAS_RECORDS} then r.body end as body, octet_length(r.body) as body_bytes, ${storageBytesOf('r')} as storage_bytes
),${withSentBodies('dropped', HAS_RECORDS)},
counted as (
  ${updateCounters({
    ...COUNTED,
    stored: {
      requests: '$3::integer - x.requests',
      bytes: '$4::bigint - x.body_bytes',
      storageBytes: '$10::bigint - x.storage_bytes',
    },
    evicted: 'x.requests',
    oldestRequestId: 'greatest(c.oldest_request_id, case when l.sees_restored then x.newest_id + 1 end)',
    // Imported requests are no events.
    removedUpTo: 'x.newest_capture',
  })}
  from (
    select count(*)::integer as requests, coalesce(sum(body_bytes), 0) as body_bytes,
      coalesce(sum(storage_bytes), 0) as storage_bytes, max(id) as newest_id,
      max(id) filter (where not imported) as newest_capture
    from dropped
  ) x, locked l, endpoints e
  join endpoint_revisions v on v.endpoint_id = e.id
  where c.endpoint_id = $1::uuid and e.id = $1::uuid and v.endpoint_id = $1::uuid
    and ${IS_OPEN}
    and c.stored_request_count + $3::integer - x.requests <= $7::integer
    and ${IS_WITHIN_RATE}
  returning x.requests
)
select 1 / count(*), max(requests) as evicted from counted`

/** Stores the rows, in their order. */
export const COPY = `copy requests (${COLUMN_NAMES}) from stdin (format binary)`

/** Ids of the newest `$2` rows of the endpoint `$1`, oldest first: its captures, because its counter row is locked. */
export const CAPTURED_IDS = `
select id from (
  select id from requests where endpoint_id = $1::uuid order by id desc limit $2::integer
) newest order by id`

/**
 * Notes the watchdogs' criteria that captures of the endpoint `$1` met. The captures are its newest rows, because its
 * counter row is locked. `$3` are the criteria. `$4` is for each the number of rows after the last one that met it,
 * less than `$2`.
 */
export const NOTE_CRITERIA = `
update watchdog_criteria c set last_matched_request_id = r.id, last_matched_at = r.received_at
from unnest($3::uuid[], $4::integer[]) as met (criteria_id, newer)
join (
  select id, received_at, row_number() over (order by id desc) - 1 as newer
  from requests where endpoint_id = $1::uuid order by id desc limit $2::integer
) r on r.newer = met.newer
where c.id = met.criteria_id and (c.last_matched_request_id is null or c.last_matched_request_id < r.id)`

/**
 * Claims events for captures of the endpoint `$1`. The captures are its newest rows, because its counter row is locked.
 * `$3` are the keys. `$4` is for each the number of rows after it, less than `$2`. The claims end `$5` seconds from
 * now. The count statement has counted them.
 *
 * If a key is claimed already, its second row fails the whole transaction, and the general statement decides. A plain
 * insert costs half of one with `on conflict`, which writes each row in two steps. A claim that has ended and is not
 * swept yet fails here, too; the general statement renews it.
 */
export const CLAIM_EVENTS = `
insert into event_claims (endpoint_id, key, first_request_id, expires_at)
select $1::uuid, k.key, r.id, ${NOW} + $5::integer * interval '1 s'
from unnest($3::uuid[], $4::integer[]) as k (key, newer)
join (
  select id, row_number() over (order by id desc) - 1 as newer
  from (select id from requests where endpoint_id = $1::uuid order by id desc limit $2::integer) newest
) r on r.newer = k.newer`
