import { statement } from '../../platform/db/index.ts'

/** The most bytes of bodies that one look takes. One body is taken whatever its size. */
export const LOOK_BYTES_MAX = 16 * 1024 * 1024

/** Interval of looks at the flows of a workspace that is sealed. A seal takes a second or two; its end is not announced. */
const SEALED_SECONDS = 2

/** Locks the flow of the action `$1`. Returns no row while another process holds the lock, or if there is no flow. */
export const LOCK_FLOW = statement(
  'lock flow',
  'select from action_flows where action_id = $1 for update skip locked',
)

/**
 * Reads the flow of the action `$1` after it is locked. As a separate statement it sees all looks and pauses committed
 * before.
 */
export const READ_FLOW = statement(
  'read flow',
  `select a.delivery_policy, a.paused_at, a.drain_per_second, a.is_active and not a.suspended_by_plan as is_on, a.off_since,
          f.next_start_at, f.not_before, f.breaker, f.next_probe_at, f.closed_at, clock_timestamp() as clock_at, e.workspace_id,
          case when w.sealed_until > clock_timestamp() then least(w.sealed_until, clock_timestamp() + interval '${SEALED_SECONDS} s') end as sealed_until,
          (select count(*)::int from deliveries d where d.action_id = a.id and d.flow_state = 'sending') +
            (select count(*)::int from replays p join replay_items g on g.replay_id = p.id
            where p.action_id = a.id and g.state = 'sending' and g.lease_ends_at > clock_timestamp()) as sending
  from action_flows f join actions a on a.id = f.action_id join endpoints e on e.id = a.endpoint_id
    join workspaces w on w.id = e.workspace_id
  where f.action_id = $1`,
)

/**
 * Takes up to `$3` of the action's deliveries that are due at `$2`, the longest due first, out of the first `$4`. A
 * delivery that is not the first of its key goes into state `behind`, with the id of its predecessor, and is looked at
 * again when the predecessor is gone.
 *
 * The predecessor is locked meanwhile, so that it cannot end without seeing the delivery behind it. A delivery whose
 * predecessor is just ending is passed over: the end of the predecessor is announced. All locks are taken before the
 * first row changes, and rows change to `behind` before any is taken: a statement cannot lock rows that it has changed
 * itself.
 */
export const TAKE_DELIVERIES = statement(
  'take deliveries',
  `with candidates as (
    select id, endpoint_id, request_id, attempt_count, order_key, flow_due_at
    from deliveries
    where action_id = $1::uuid and flow_state = 'waiting' and flow_due_at <= $2::timestamptz
    order by flow_due_at, id limit $4::int
  ), keyed as (
    select c.id, before.id as before_id
    from candidates c cross join lateral (
      select p.id from deliveries p
      where p.action_id = $1::uuid and p.order_key = c.order_key and p.flow_state is not null and p.id < c.id
      order by p.id desc limit 1) before
    where c.order_key is not null
  ), before as (
    select b.id
    from (select distinct before_id from keyed) k
    cross join lateral (
      select id from deliveries where id = k.before_id and flow_state is not null for share skip locked) b
  ), put_behind as (
    update deliveries d set flow_state = 'behind', behind_id = k.before_id
    from keyed k join before b on b.id = k.before_id
    where d.id = k.id and d.flow_state = 'waiting' and (select count(*) from before) > 0
    returning d.id
  ), sized as (
    select c.id, c.flow_due_at, coalesce(r.bytes, 0) as bytes,
           sum(coalesce(r.bytes, 0)) over (order by c.flow_due_at, c.id) as bytes_so_far
    from (
      select * from candidates where id not in (select id from keyed) order by flow_due_at, id limit $3::int) c
    left join lateral (
      select octet_length(body) as bytes from requests
      where endpoint_id = c.endpoint_id and id = c.request_id offset 0) r on true
  ), taken as (
    update deliveries d set flow_state = 'sending'
    from sized s
    where d.id = s.id and d.flow_state = 'waiting' and (s.bytes_so_far = s.bytes or s.bytes_so_far <= ${LOOK_BYTES_MAX})
      and (select count(*) from put_behind) >= 0
    returning d.id, d.attempt_count, s.bytes, s.flow_due_at
  )
  select id, attempt_count + 1 as attempt, bytes::int as body_bytes, (select count(*)::int from put_behind) as put_behind,
         (select count(*)::int from candidates) as candidates
  from taken
  union all
  select null, 0, 0, (select count(*)::int from put_behind), (select count(*)::int from candidates)
  order by id`,
)

/** Returns deliveries `$1`, which were taken and cannot begin now, to the waiting ones. */
export const GIVE_BACK = statement(
  'give deliveries back',
  "update deliveries set flow_state = 'waiting' where id = any($1::bigint[]) and flow_state = 'sending'",
)

/** Reads when the next waiting delivery of the action `$1` is due. */
export const NEXT_DUE = statement(
  'next due of flow',
  `select min(flow_due_at) as due_at from deliveries where action_id = $1 and flow_state = 'waiting'`,
)

/**
 * Stores the result of a look: the next start `$2`, and after a probe the time `$3` of the next probe. Null changes
 * nothing.
 */
export const MOVE_FLOW = statement(
  'move flow',
  `update action_flows set
    next_start_at = coalesce($2::timestamptz, next_start_at),
    breaker = case when $3::timestamptz is null then breaker else 'probing' end,
    next_probe_at = coalesce($3::timestamptz, next_probe_at)
  where action_id = $1`,
)

/** Reserves a new time for a start that was missed: `$2` is the earliest, `$3` the spacing in milliseconds. */
export const RESERVE_START = statement(
  'reserve start',
  `update action_flows set next_start_at = greatest(next_start_at, $2::timestamptz) + $3::float8 * interval '1 ms'
  where action_id = $1
  returning next_start_at - $3::float8 * interval '1 ms' as start_at`,
)

/**
 * Flows with deliveries that were due at `$1`. It steps through the index from one action with waiting deliveries to the
 * next, however many deliveries each has.
 */
export const OVERDUE_LANES = statement(
  'overdue flows',
  `with recursive busy as (
    (select action_id from deliveries where flow_state = 'waiting' order by action_id limit 1)
    union all
    select next.action_id from busy cross join lateral (
      select d.action_id from deliveries d
      where d.flow_state = 'waiting' and d.action_id > busy.action_id
      order by d.action_id limit 1) next
  )
  select a.id, e.workspace_id from busy join actions a on a.id = busy.action_id join endpoints e on e.id = a.endpoint_id
  where (a.paused_at is null or not a.is_active or a.suspended_by_plan)
    and exists (
      select from deliveries d
      where d.action_id = a.id and d.flow_state = 'waiting' and d.flow_due_at <= $1::timestamptz)`,
)

/** Flows of the workspace `$1` with deliveries. */
export const LANES_OF_WORKSPACE = statement(
  'flows of workspace',
  `select distinct d.action_id as id, d.workspace_id from deliveries d
  where d.workspace_id = $1 and d.flow_state in ('waiting', 'sending', 'behind')`,
)

/** Flows of the governed actions `$1`. */
export const LANES_OF_ACTIONS = statement(
  'flows of actions',
  `select a.id, e.workspace_id from actions a join endpoints e on e.id = a.endpoint_id
  where a.id = any($1::uuid[]) and a.governed`,
)

/** Moves deliveries `$1` from jobs to their flows. A delivery that is in a flow already does not change. */
export const ADOPT_DELIVERIES = statement(
  'adopt deliveries',
  `update deliveries set flow_state = 'waiting', flow_due_at = next_attempt_at
  where id = any($1::bigint[]) and flow_state is null and finished_at is null`,
)
