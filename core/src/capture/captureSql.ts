import { hasRecords, withSentBodies } from '../deliveries/index.ts'
import { type CounterChange, SEES_RESTORED, updateCounters } from '../endpoints/index.ts'
import { parameters, statement } from '../platform/db/index.ts'
import { storageBytesOf } from '../requests/index.ts'
import { captureWindowRuns, takesCaptures, WINDOW_SECONDS } from './captureSettings.ts'
import { EVICTED_AT_ONCE } from './plainStatements.ts'
import { REJECTION_ALERT_SECONDS } from './rejections.ts'
import { COLUMN_NAMES, REQUEST_COLUMNS } from './requestColumns.ts'

/** Name of the parameter with a column of {@link REQUEST_COLUMNS}. */
export const columnParameter = (name: string) => `requests.${name}` as const

const COMMON = [
  'endpointIds',
  'aheadMs',
  'plans',
  'ratesPerMinute',
  'storedMax',
  'bytesPerMinute',
  'revisions',
  'bodyBytes',
  ...REQUEST_COLUMNS.map(({ name }) => columnParameter(name)),
  'criteriaOfCaptures',
  'criteriaSets',
  'criteriaIds',
] as const

/** Parameters of {@link CAPTURE}. `plans` and the three after it are of each plan, `endpointIds` of each endpoint. */
export const CAPTURE_PARAMETERS = parameters(COMMON)

/** Parameters of {@link CAPTURE_ONCE}: the same, and the claims of the captures. */
export const CAPTURE_ONCE_PARAMETERS = parameters([...COMMON, 'claimKeys', 'claimSeconds', 'claimEnds'])

const $ = CAPTURE_ONCE_PARAMETERS.of
const arrayOf = (name: string) =>
  `${$(columnParameter(name))}::${REQUEST_COLUMNS.find((column) => column.name === name)?.type}[]`
const COLUMN_ARRAYS = REQUEST_COLUMNS.map(({ name }) => arrayOf(name)).join(', ')

/** Whether any endpoint has records of attempts. Endpoints without deliveries pay only this lookup for a batch. */
const HAS_RECORDS = hasRecords(`${$('endpointIds')}::uuid[]`)

/** Parts of the statement that differ if captures claim their events. */
interface Claims {
  /** Name of the rows of all captures, and of the ids of those that are not refused. */
  readonly accepted: string
  readonly drawn: string
  /** SQL that makes `evaluated` and `numbered` from the rows above, if these are not the same. */
  readonly decided: string
  /** SQL for whether a capture counts in the rate, by the state of `evaluated j`. */
  readonly isTaken: string
  /** One more column of `requests`, and its value. */
  readonly column: string
  readonly value: string
  /** SQL of columns of `requests` that are not stored as they were given. */
  readonly instead: Readonly<Record<string, string>>
  readonly counts: CounterChange
  readonly duplicateOf: string
}

const NO_CLAIMS: Claims = {
  accepted: 'evaluated',
  drawn: 'numbered',
  decided: '',
  isTaken: "j.state = 'stored'",
  column: '',
  value: '',
  instead: {},
  counts: {},
  duplicateOf: 'null::bigint',
}

/**
 * Each accepted capture with a key claims it for its endpoint, in the order of the batch. If the key is claimed
 * already, the claim has the id of the first request. A claim whose window has ended is replaced. `on conflict do
 * update` also sees rows that were committed while this statement waited for the counters' lock. Claims are inserted
 * under that lock, so they cannot deadlock.
 *
 * A duplicate is stored with the id of the first (`mark`), stored without deliveries (`skip`), or only counted
 * (`discard`). The id of a discarded one stays unused. Watchdogs note it, because the sender is alive.
 */
const CLAIMS: Claims = {
  accepted: 'accepted',
  drawn: 'drawn',
  decided: `
claims as (
  select d.id, d.place, d.endpoint_id, k.key, k.seconds, k.consequence
  from drawn d
  join unnest(${$('claimKeys')}::uuid[], ${$('claimSeconds')}::integer[], ${$('claimEnds')}::text[]) with ordinality
    as k (key, seconds, consequence, place) on k.place = d.place
  where k.key is not null
),
claimed as (
  insert into event_claims as c (endpoint_id, key, first_request_id, expires_at)
  select distinct on (endpoint_id, key) endpoint_id, key, id, (select now from clock) + seconds * interval '1 s'
  from claims
  order by endpoint_id, key, place
  on conflict (endpoint_id, key) do update set
    first_request_id = case when c.expires_at <= (select now from clock) then excluded.first_request_id else c.first_request_id end,
    expires_at = case when c.expires_at <= (select now from clock) then excluded.expires_at else c.expires_at end
  -- A row that was inserted has not been updated by any transaction.
  returning endpoint_id, key, first_request_id, xmax = 0 as is_new
),
evaluated as (
  select a.*, case when d.consequence = 'discard' then 'discarded' else a.accepted_as end as state,
         d.first_request_id as duplicate_of, coalesce(d.consequence = 'skip', false) as is_skipped
  from (select place, endpoint_id, body_bytes, storage_bytes, received_at, window_started_at, state as accepted_as from accepted) a
  left join (
    select n.place, n.consequence, k.first_request_id
    from claims n join claimed k on k.endpoint_id = n.endpoint_id and k.key = n.key
    where k.first_request_id <> n.id
  ) d on d.place = a.place
),
numbered as (
  select n.id, n.place, n.endpoint_id, j.duplicate_of, j.is_skipped
  from drawn n join evaluated j on j.place = n.place
  where j.state = 'stored'
),`,
  isTaken: "j.state in ('stored', 'discarded')",
  column: ', duplicate_of',
  value: ', n.duplicate_of',
  instead: {
    dispatch_state: "case when n.is_skipped then 'Skipped' else i.dispatch_state end",
    // An original is stored for deliveries only.
    redaction: "case when n.is_skipped then (i.redaction::jsonb - 'original')::text else i.redaction end",
  },
  counts: {
    claimed: '(select count(*) from claimed k where k.endpoint_id = o.endpoint_id and k.is_new)',
    discarded: {
      count: 't.taken - t.stored',
      lastAt: 'case when t.taken > t.stored then (select now from clock) else c.last_discarded_at end',
    },
  },
  duplicateOf: 'j.duplicate_of',
}

/**
 * The general way to store a batch: one constant statement over arrays, one array for each column. It decides capture
 * by capture, whereas plainStatements.ts stores all or nothing.
 *
 * - It locks the endpoints' counter rows first, in id order, so that batches never deadlock. Ids are drawn under the
 *   lock, so within an endpoint they are committed in order.
 * - It checks with the present state whether the endpoint takes captures, whether the capture was evaluated under its
 *   present settings, and its rate.
 * - It evicts the oldest requests beyond the cap: as many as it stores, and of all endpoints together a bounded number
 *   more, since a cap that was lowered may leave a million. It starts at the low-water mark, to skip dead index entries of
 *   rows that were evicted before. A row with open deliveries is only hidden. Rows are addressed by ctid, because they
 *   were just found.
 * - It notes the watchdogs' criteria that were met: one row for each criteria, whatever the size of the batch.
 *
 * A row without a place is of an endpoint that needs work afterwards. Columns are named as members: renaming the rows
 * of a batch takes as long as reading them.
 *
 * @param claims the parts for endpoints with `dedupe`, see {@link CLAIMS}
 */
const statementWith = (claims: Claims): string => `
with clock as (
  select statement_timestamp() + ${$('aheadMs')}::bigint * interval '1 ms' as now
),
locked as (
  select c.endpoint_id, c.stored_request_count, c.oldest_request_id, ${SEES_RESTORED} as sees_restored,
         w.runs, case when w.runs then c.window_started_at else (select now from clock) end as window_started_at,
         case when w.runs then c.window_count else 0 end as window_count,
         case when w.runs then c.window_bytes else 0 end as window_bytes
  from endpoint_counters c
  cross join lateral (
    select ${captureWindowRuns('(select now from clock)')} as runs
  ) w
  where c.endpoint_id = any (${$('endpointIds')}::uuid[])
  order by c.endpoint_id
  for update of c
),
open as (
  select l.*, v.revision, p.rate_per_minute, p.bytes_per_minute, p.stored_max
  from locked l
  join endpoints e on e.id = l.endpoint_id
  join endpoint_revisions v on v.endpoint_id = l.endpoint_id
  join workspaces w on w.id = e.workspace_id
  join unnest(${$('plans')}::text[], ${$('ratesPerMinute')}::integer[], ${$('storedMax')}::integer[], ${$('bytesPerMinute')}::bigint[])
    as p (plan, rate_per_minute, stored_max, bytes_per_minute)
    on p.plan = case when w.plan = any (${$('plans')}) then w.plan else 'free' end
  where ${takesCaptures('(select now from clock)')}
),
${claims.accepted} as (
  select i.place, i.endpoint_id, i.body_bytes, i.storage_bytes, i.received_at, o.window_started_at,
         case
           when o.endpoint_id is null then 'gone'
           when i.revision <> o.revision then 'stale'
           when o.window_count + row_number() over same_endpoint > o.rate_per_minute then 'limited'
           -- The capture that passes the bound is the last: a body larger than the bound is not refused for ever.
           when o.window_bytes + sum(i.body_bytes) over same_endpoint - i.body_bytes >= o.bytes_per_minute then 'limited'
           else 'stored'
         end as state
  from unnest(${arrayOf('endpoint_id')}, ${$('revisions')}::integer[], ${arrayOf('received_at')}, ${$('bodyBytes')}::integer[],
    ${arrayOf('storage_bytes')}) with ordinality as i (endpoint_id, revision, received_at, body_bytes, storage_bytes, place)
  left join open o on o.endpoint_id = i.endpoint_id
  window same_endpoint as (partition by i.endpoint_id, i.revision order by i.place)
),
${claims.drawn} as (
  select nextval('request_ids') as id, s.place, s.endpoint_id
  from (select j.place, j.endpoint_id from ${claims.accepted} j where j.state = 'stored' order by j.place) s
),${claims.decided}
inserted as (
  insert into requests (id, ${COLUMN_NAMES}${claims.column})
  select n.id, ${REQUEST_COLUMNS.map(({ name }) => claims.instead[name] ?? `i.${name}`).join(', ')}${claims.value}
  from numbered n
  join unnest(${COLUMN_ARRAYS}) with ordinality as i (${COLUMN_NAMES}, place) on i.place = n.place
),
-- A batch meets few different sets of criteria: of each, only the last accepted capture counts.
met as (
  select s.number, max(n.place) as place
  from ${claims.drawn} n
  join unnest(${$('criteriaOfCaptures')}::integer[]) with ordinality as s (number, place) on s.place = n.place
  where s.number is not null
  group by s.number
),
noted as (
  update watchdog_criteria c set last_matched_request_id = m.request_id, last_matched_at = m.received_at
  from (
    select distinct on (k.criteria_id) k.criteria_id, n.id as request_id, j.received_at
    from met
    join ${claims.drawn} n on n.place = met.place
    join evaluated j on j.place = met.place
    join unnest(${$('criteriaSets')}::integer[], ${$('criteriaIds')}::uuid[]) as k (number, criteria_id) on k.number = met.number
    order by k.criteria_id, n.id desc
  ) m
  where c.id = m.criteria_id and (c.last_matched_request_id is null or c.last_matched_request_id < m.request_id)
),
tallied as (
  select o.endpoint_id,
         count(*) filter (where j.state = 'stored') as stored,
         count(*) filter (where j.state = 'limited') as limited,
         count(*) filter (where ${claims.isTaken}) as taken,
         coalesce(sum(j.body_bytes) filter (where ${claims.isTaken}), 0) as taken_bytes,
         coalesce(sum(j.body_bytes) filter (where j.state = 'stored'), 0) as body_bytes,
         coalesce(sum(j.storage_bytes) filter (where j.state = 'stored'), 0) as storage_bytes,
         max(j.received_at) filter (where ${claims.isTaken}) as last_received_at
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
    limit least(
      greatest(0, o.stored_request_count + t.stored - o.stored_max),
      t.stored + ${EVICTED_AT_ONCE} / (select count(*) from open)
    )
  ) r
),
dropped as (
  delete from requests r using oldest o
  where r.ctid = o.row_at and r.deleted_at is null and r.hidden_at is null and not exists (
    select from deliveries d
    where d.endpoint_id = o.endpoint_id and d.request_id = o.id and d.finished_at is null)
  returning r.endpoint_id, r.id, r.imported, case when ${HAS_RECORDS} then r.body end as body, octet_length(r.body) as body_bytes, ${storageBytesOf('r')} as storage_bytes
),${withSentBodies('dropped', HAS_RECORDS)},
hidden as (
  update requests r set hidden_at = (select now from clock) from oldest o
  where r.ctid = o.row_at and r.deleted_at is null and r.hidden_at is null and exists (
    select from deliveries d
    where d.endpoint_id = o.endpoint_id and d.request_id = o.id and d.finished_at is null)
  returning r.endpoint_id, r.id, r.imported, octet_length(r.body) as body_bytes, ${storageBytesOf('r')} as storage_bytes
),
evicted as (
  select x.endpoint_id, count(*) as requests, sum(x.body_bytes) as body_bytes, sum(x.storage_bytes) as storage_bytes,
         max(x.id) as newest_id, max(x.id) filter (where not x.imported) as newest_capture
  from (
    select endpoint_id, id, imported, body_bytes, storage_bytes from dropped
    union all
    select endpoint_id, id, imported, body_bytes, storage_bytes from hidden
  ) x
  group by x.endpoint_id
),
counted as (
  ${updateCounters({
    stored: {
      requests: 't.stored - coalesce(x.requests, 0)',
      bytes: 't.body_bytes - coalesce(x.body_bytes, 0)',
      storageBytes: 't.storage_bytes - coalesce(x.storage_bytes, 0)',
    },
    evicted: 'coalesce(x.requests, 0)',
    oldestRequestId: 'greatest(c.oldest_request_id, case when o.sees_restored then x.newest_id + 1 end)',
    // Imported requests are no events.
    removedUpTo: 'x.newest_capture',
    requestAt: 't.last_received_at',
    window: {
      startedAt: 'case when o.runs or t.taken > 0 then o.window_started_at else c.window_started_at end',
      count: 'o.window_count + t.taken',
      bytes: 'o.window_bytes + t.taken_bytes',
    },
    rejected: {
      count: 't.limited',
      lastAt: 'case when t.limited > 0 then (select now from clock) else c.last_rejected_at end',
    },
    ...claims.counts,
  })}
  from open o
  join tallied t on t.endpoint_id = o.endpoint_id
  left join evicted x on x.endpoint_id = o.endpoint_id
  where c.endpoint_id = o.endpoint_id
  returning c.endpoint_id, c.stored_request_count > o.stored_max as overfull, c.stored_request_count >= o.stored_max as is_full,
    t.limited > 0 and coalesce(c.rejection_alerted_at <= (select now from clock) - interval '${REJECTION_ALERT_SECONDS} s', true)
      as rejecting, coalesce(x.requests, 0) as evicted
)
select j.place, j.state, n.id,
       ceil(extract(epoch from j.window_started_at + interval '${WINDOW_SECONDS} s' - (select now from clock)))::integer
         as "retryAfterSeconds",
       ${claims.duplicateOf} as "duplicateOf", null::uuid as "endpointId", false as overfull, false as rejecting,
       false as "isFull", 0 as evicted
from evaluated j
left join numbered n on n.place = j.place
union all
select null, null, null, null, null, c.endpoint_id, c.overfull, c.rejecting, c.is_full, c.evicted
from counted c where c.is_full or c.rejecting or c.evicted > 0`

/** The statement for captures without claims. */
export const CAPTURE = statement('capture', statementWith(NO_CLAIMS))

/** The same statement for endpoints with `dedupe`. */
export const CAPTURE_ONCE = statement('capture once', statementWith(CLAIMS))
