import type pg from 'pg'
import { hasRecords, withSentBodies } from '../deliveries/index.ts'
import type { Plans } from '../plans/index.ts'
import { beforeSending, encodeArray, INT4, UUID } from '../platform/db/index.ts'
import { evictedRequests } from '../platform/metrics/index.ts'
import { storageBytesOf } from '../requests/index.ts'
import type { NewCapture } from './captureRow.ts'
import { REJECTION_ALERT_SECONDS } from './rejections.ts'
import { COLUMN_NAMES, REQUEST_COLUMNS } from './requestColumns.ts'
import { WINDOW_SECONDS } from './window.ts'

/** Outcome of one capture. */
export type CaptureOutcome =
  /** The id is null unless the general statement stored it. */
  | { readonly state: 'stored'; readonly id: number | null }
  /** The endpoint is absent, deleted, expired, inactive or suspended. */
  | { readonly state: 'gone' }
  /** The settings changed since the capture was evaluated: it must be evaluated again. */
  | { readonly state: 'stale' }
  /** Over the capture rate; counted as rejected. */
  | { readonly state: 'limited'; readonly retryAfterSeconds: number }

/**
 * Result of one run of the statement: the outcomes of its captures, and endpoints that need work afterwards.
 */
export interface BatchResult {
  /** In the order of the captures. */
  readonly outcomes: readonly CaptureOutcome[]
  /**
   * Endpoints that hold more requests than their plan allows. Rows that another process committed while this statement
   * waited for its lock were invisible to it. Another run, even without captures, evicts them.
   */
  readonly overfull: readonly string[]
  /** Endpoints that rejected captures, without an alert about it in the last `REJECTION_ALERT_SECONDS`. */
  readonly rejecting: readonly string[]
  /** Endpoints that hold as many requests as their plan allows. */
  readonly full: readonly string[]
}

/** Number of the parameter with the first of {@link REQUEST_COLUMNS}. */
const FIRST_COLUMN = 9
const COLUMN_ARRAYS = REQUEST_COLUMNS.map(({ type }, index) => `$${FIRST_COLUMN + index}::${type}[]`).join(
  ', ',
)
const STORAGE_BYTES = `$${FIRST_COLUMN + REQUEST_COLUMNS.findIndex(({ name }) => name === 'storage_bytes')}`
const [CRITERIA_OF_CAPTURES, CRITERIA_SETS, CRITERIA_IDS] = [0, 1, 2].map(
  (index) => `$${FIRST_COLUMN + REQUEST_COLUMNS.length + index}`,
)

/** Whether any endpoint has records of attempts. Endpoints without deliveries pay only this lookup for a batch. */
const HAS_RECORDS = hasRecords('$1::uuid[]')

/**
 * The general way to store a batch: one constant statement over arrays, one array for each column. It decides capture
 * by capture, whereas plainStatements.ts stores all or nothing.
 *
 * - It locks the endpoints' counter rows first, in id order, so that batches never deadlock. Ids are drawn under the
 *   lock, so within an endpoint they are committed in order.
 * - It checks with the present state whether the endpoint takes captures, whether the capture was evaluated under its
 *   present settings, and its rate.
 * - It evicts the oldest requests beyond the cap. It starts at the low-water mark, to skip dead index entries of rows
 *   that were evicted before. A row with open deliveries is only hidden. Rows are addressed by ctid, because they were
 *   just found.
 * - It notes the watchdogs' criteria that were met: one row for each criteria, whatever the size of the batch.
 */
const STATEMENT = `
with clock as (
  select statement_timestamp() + $2::bigint * interval '1 ms' as now
),
locked as (
  select c.endpoint_id, c.stored_request_count, c.oldest_request_id,
         w.runs, case when w.runs then c.window_started_at else (select now from clock) end as window_started_at,
         case when w.runs then c.window_count else 0 end as window_count,
         case when w.runs then c.window_bytes else 0 end as window_bytes
  from endpoint_counters c
  cross join lateral (
    select coalesce(c.window_started_at > (select now from clock) - interval '${WINDOW_SECONDS} s', false) as runs
  ) w
  where c.endpoint_id = any ($1::uuid[])
  order by c.endpoint_id
  for update of c
),
open as (
  select l.*, v.revision, p.rate_per_minute, p.bytes_per_minute, p.stored_max
  from locked l
  join endpoints e on e.id = l.endpoint_id
  join endpoint_revisions v on v.endpoint_id = l.endpoint_id
  join workspaces w on w.id = e.workspace_id
  join unnest($3::text[], $4::integer[], $5::integer[], $8::bigint[]) as p (plan, rate_per_minute, stored_max, bytes_per_minute)
    on p.plan = case when w.plan = any ($3) then w.plan else 'free' end
  where e.deleted_at is null and e.is_active and not e.suspended_by_plan
    and (e.expires_at is null or e.expires_at > (select now from clock))
),
evaluated as (
  select i.place, i.endpoint_id, i.body_bytes, i.storage_bytes, i.received_at, o.window_started_at,
         case
           when o.endpoint_id is null then 'gone'
           when i.revision <> o.revision then 'stale'
           when o.window_count + row_number() over same_endpoint > o.rate_per_minute then 'limited'
           -- The capture that passes the bound is the last: a body larger than the bound is not refused for ever.
           when o.window_bytes + sum(i.body_bytes) over same_endpoint - i.body_bytes >= o.bytes_per_minute then 'limited'
           else 'stored'
         end as state
  from unnest($${FIRST_COLUMN}::uuid[], $6::integer[], $${FIRST_COLUMN + 1}::timestamptz[], $7::integer[], ${STORAGE_BYTES}::integer[])
    with ordinality as i (endpoint_id, revision, received_at, body_bytes, storage_bytes, place)
  left join open o on o.endpoint_id = i.endpoint_id
  window same_endpoint as (partition by i.endpoint_id, i.revision order by i.place)
),
numbered as (
  select nextval('request_ids') as id, s.place, s.endpoint_id
  from (select j.place, j.endpoint_id from evaluated j where j.state = 'stored' order by j.place) s
),
inserted as (
  insert into requests (id, ${COLUMN_NAMES})
  select n.id, ${REQUEST_COLUMNS.map(({ name }) => `i.${name}`).join(', ')}
  from numbered n
  join unnest(${COLUMN_ARRAYS}) with ordinality as i (${COLUMN_NAMES}, place) on i.place = n.place
),
-- A batch meets few different sets of criteria: of each, only the last stored capture counts.
met as (
  select s.number, max(n.place) as place
  from numbered n
  join unnest(${CRITERIA_OF_CAPTURES}::integer[]) with ordinality as s (number, place) on s.place = n.place
  where s.number is not null
  group by s.number
),
noted as (
  update watchdog_criteria c set last_matched_request_id = m.request_id, last_matched_at = m.received_at
  from (
    select distinct on (k.criteria_id) k.criteria_id, n.id as request_id, j.received_at
    from met
    join numbered n on n.place = met.place
    join evaluated j on j.place = met.place
    join unnest(${CRITERIA_SETS}::integer[], ${CRITERIA_IDS}::uuid[]) as k (number, criteria_id) on k.number = met.number
    order by k.criteria_id, n.id desc
  ) m
  where c.id = m.criteria_id and (c.last_matched_request_id is null or c.last_matched_request_id < m.request_id)
),
tallied as (
  select o.endpoint_id,
         count(*) filter (where j.state = 'stored') as stored,
         count(*) filter (where j.state = 'limited') as limited,
         coalesce(sum(j.body_bytes) filter (where j.state = 'stored'), 0) as body_bytes,
         coalesce(sum(j.storage_bytes) filter (where j.state = 'stored'), 0) as storage_bytes,
         max(j.received_at) filter (where j.state = 'stored') as last_received_at
  from open o
  left join evaluated j on j.endpoint_id = o.endpoint_id
  group by o.endpoint_id
),
oldest as (
  select o.endpoint_id, r.id, r.row_at
  from open o
  join tallied t on t.endpoint_id = o.endpoint_id
  cross join lateral (
    select r.id, r.ctid as row_at
    from requests r
    where r.endpoint_id = o.endpoint_id and r.id >= o.oldest_request_id
      and r.deleted_at is null and r.hidden_at is null
    order by r.id
    limit greatest(0, o.stored_request_count + t.stored - o.stored_max)
  ) r
),
dropped as (
  delete from requests r using oldest o
  where r.ctid = o.row_at and r.deleted_at is null and r.hidden_at is null and not exists (
    select from deliveries d
    where d.endpoint_id = o.endpoint_id and d.request_id = o.id and d.finished_at is null)
  returning r.endpoint_id, r.id, case when ${HAS_RECORDS} then r.body end as body, octet_length(r.body) as body_bytes, ${storageBytesOf('r')} as storage_bytes
),${withSentBodies('dropped', HAS_RECORDS)},
hidden as (
  update requests r set hidden_at = (select now from clock) from oldest o
  where r.ctid = o.row_at and r.deleted_at is null and r.hidden_at is null and exists (
    select from deliveries d
    where d.endpoint_id = o.endpoint_id and d.request_id = o.id and d.finished_at is null)
  returning r.endpoint_id, r.id, octet_length(r.body) as body_bytes, ${storageBytesOf('r')} as storage_bytes
),
evicted as (
  select x.endpoint_id, count(*) as requests, sum(x.body_bytes) as body_bytes, sum(x.storage_bytes) as storage_bytes,
         max(x.id) as newest_id
  from (
    select endpoint_id, id, body_bytes, storage_bytes from dropped
    union all
    select endpoint_id, id, body_bytes, storage_bytes from hidden
  ) x
  group by x.endpoint_id
),
counted as (
  update endpoint_counters c set
    stored_request_count = c.stored_request_count + t.stored - coalesce(x.requests, 0),
    stored_bytes = c.stored_bytes + t.body_bytes - coalesce(x.body_bytes, 0),
    storage_bytes = c.storage_bytes + t.storage_bytes - coalesce(x.storage_bytes, 0),
    evicted_count = c.evicted_count + coalesce(x.requests, 0),
    oldest_request_id = greatest(c.oldest_request_id, x.newest_id + 1),
    last_request_at = greatest(c.last_request_at, t.last_received_at),
    window_started_at = case when o.runs or t.stored > 0 then o.window_started_at else c.window_started_at end,
    window_count = o.window_count + t.stored,
    window_bytes = o.window_bytes + t.body_bytes,
    rejected_count = c.rejected_count + t.limited,
    rejected_since_alert = c.rejected_since_alert + t.limited,
    last_rejected_at = case when t.limited > 0 then (select now from clock) else c.last_rejected_at end
  from open o
  join tallied t on t.endpoint_id = o.endpoint_id
  left join evicted x on x.endpoint_id = o.endpoint_id
  where c.endpoint_id = o.endpoint_id
  returning c.endpoint_id, c.stored_request_count > o.stored_max as overfull, c.stored_request_count >= o.stored_max as is_full,
    t.limited > 0 and coalesce(c.rejection_alerted_at <= (select now from clock) - interval '${REJECTION_ALERT_SECONDS} s', true)
      as rejecting, coalesce(x.requests, 0) as evicted
)
select j.place, j.state, n.id,
       ceil(extract(epoch from j.window_started_at + interval '${WINDOW_SECONDS} s' - (select now from clock)))::integer as retry_after,
       null::uuid as endpoint_id, false as overfull, false as rejecting, false as is_full, 0 as evicted
from evaluated j
left join numbered n on n.place = j.place
union all
select null, null, null, null, c.endpoint_id, c.overfull, c.rejecting, c.is_full, c.evicted
from counted c where c.is_full or c.rejecting or c.evicted > 0`

type State = CaptureOutcome['state']
type ResultRow =
  | [place: number, state: State, id: number | null, retryAfter: number, null, false, false, false, 0]
  | [
      null,
      null,
      null,
      null,
      endpointId: string,
      overfull: boolean,
      rejecting: boolean,
      isFull: boolean,
      evicted: number,
    ]

/** Time limit of a statement, which PostgreSQL enforces. */
export const STATEMENT_SECONDS_MAX = 20

/**
 * Planning takes longer than running, so each statement is planned once. Every row here is found by a key, so plans
 * must use the keys, even if the tables are empty at that moment. A commit must be durable, even if the server's
 * default is not.
 */
const SESSION_SETTINGS = `
  set plan_cache_mode = force_generic_plan;
  set enable_seqscan = off;
  set jit = off;
  set statement_timeout = '${STATEMENT_SECONDS_MAX}s';
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`

/** Applies the session settings that {@link storeCaptures} needs to a connection. */
export async function prepareConnection(client: pg.ClientBase): Promise<void> {
  await client.query(SESSION_SETTINGS)
}

/**
 * Stores a batch in one round trip. It is durable once its transaction is committed; outside of one, when this returns.
 *
 * @param client prepared by {@link prepareConnection}
 * @param endpointIds every endpoint of the captures, and any other that may hold too many requests
 * @param aheadMs see `aheadMs` of api/services.ts
 */
export async function storeCaptures(
  client: pg.ClientBase,
  captures: readonly NewCapture[],
  { endpointIds, plans, aheadMs }: { endpointIds: readonly string[]; plans: Plans; aheadMs: number },
): Promise<BatchResult> {
  const limits = Object.values(plans)
  const { rows } = await client.query<ResultRow>({
    name: 'capture',
    text: STATEMENT,
    rowMode: 'array',
    values: beforeSending(() => [
      encodeArray(UUID, endpointIds, (id) => id),
      aheadMs,
      limits.map((plan) => plan.key),
      limits.map((plan) => plan.limits.captureRatePerMinute),
      limits.map((plan) => plan.limits.storedRequestsMax),
      encodeArray(INT4, captures, ({ revision }) => revision),
      encodeArray(INT4, captures, ({ row }) => row.body.length),
      limits.map((plan) => plan.limits.captureBytesPerMinute),
      ...REQUEST_COLUMNS.map(({ array }) => array(captures)),
      ...criteriaOf(captures),
    ]),
  })
  const outcomes: CaptureOutcome[] = new Array(captures.length)
  const overfull: string[] = []
  const rejecting: string[] = []
  const full: string[] = []
  for (const row of rows) {
    if (row[0] === null) {
      if (row[5]) overfull.push(row[4])
      if (row[6]) rejecting.push(row[4])
      if (row[7]) full.push(row[4])
      if (row[8] > 0) evictedRequests.inc({ limit: 'requests' }, row[8])
    } else {
      outcomes[row[0] - 1] = toOutcome(row[1], row[2], row[3])
    }
  }
  return { outcomes, overfull, rejecting, full }
}

function toOutcome(state: State, id: number | null, retryAfter: number): CaptureOutcome {
  if (state === 'stored') return { state, id }
  if (state === 'limited') {
    // Between 1 and a whole window, even if the clocks of two gateways differ.
    return { state, retryAfterSeconds: Math.min(WINDOW_SECONDS, Math.max(1, retryAfter)) }
  }
  return { state }
}

/** Encodes the last parameters: the number of each capture's set of criteria, and the members of the sets. */
function criteriaOf(captures: readonly NewCapture[]): Buffer[] {
  // Finds a set by the list object that captures share, else by its content.
  const numbers = new Map<readonly string[] | string, number>()
  const members: { readonly number: number; readonly criteriaId: string }[] = []
  const numberOf = ({ criteriaIds }: NewCapture): number | null => {
    if (criteriaIds.length === 0) return null
    const shared = numbers.get(criteriaIds)
    if (shared !== undefined) return shared
    const key = criteriaIds.join()
    const known = numbers.get(key)
    const number = known ?? numbers.size
    numbers.set(criteriaIds, number)
    if (known !== undefined) return known
    numbers.set(key, number)
    for (const criteriaId of criteriaIds) members.push({ number, criteriaId })
    return number
  }
  const ofCaptures = captures.map(numberOf)
  return [
    encodeArray(INT4, ofCaptures, (number) => number),
    encodeArray(INT4, members, ({ number }) => number),
    encodeArray(UUID, members, ({ criteriaId }) => criteriaId),
  ]
}
