import { waitingOf } from '../../dispatch/index.ts'
import { PLAN_ONCE_FROM_HERE, type RowsOf, statement } from '../../platform/db/index.ts'
import { forwardColumns } from '../dueAttempts.ts'

/** The most bytes of bodies that one look takes. One body is taken whatever its size. */
const LOOK_BYTES_MAX = 16 * 1024 * 1024

/** SQL that joins the bytes of the body, which may be gone, to each candidate `c`. */
const WITH_BYTES = `left join lateral (
      select octet_length(body) as bytes from requests where endpoint_id = c.endpoint_id and id = c.request_id offset 0) r on true`

/** Interval of looks at the flows of a workspace that is sealed. A seal takes a second or two; its end is not announced. */
const SEALED_SECONDS = 2

/**
 * Whether an action's deliveries start within bounds: it is governed, or some have keys from the time when it was.
 * Looks at such a lane come one after the other.
 */
const IS_BOUND = `(a.governed or exists (
  select from deliveries k where k.action_id = a.id and k.flow_state is not null and k.order_key is not null))`

/**
 * Locks the lane of the action `$1` until the transaction ends: for this look only if it has bounds, else together with
 * other looks. `is_locked` is false while another lock is in the way. The other statements of the look are planned once.
 */
export const LOCK_FLOW = statement(
  'lock flow',
  `with bound as (
    select ${IS_BOUND} as is_bound from ${PLAN_ONCE_FROM_HERE} cross join actions a where a.id = $1
  ), alone as (
    select from action_flows where action_id = $1 and (select is_bound from bound) for update skip locked
  ), together as (
    select from action_flows where action_id = $1 and not (select is_bound from bound) for share skip locked
  )
  select is_bound, (select count(*) from alone) + (select count(*) from together) > 0 as is_locked from bound`,
)

/**
 * Locks those of the lanes `$1` that have no bounds, as {@link LOCK_FLOW} does. Returns the ones that no other lock
 * holds.
 */
export const LOCK_FLOWS = statement(
  'lock flows',
  `select f.action_id as id
  from ${PLAN_ONCE_FROM_HERE}
  cross join unnest($1::uuid[]) as lane (id)
  cross join lateral (select a.id from actions a where a.id = lane.id and not ${IS_BOUND} offset 0) unbound
  cross join lateral (select action_id from action_flows where action_id = unbound.id for share skip locked) f`,
)

/**
 * Reads the lanes of the actions `$1` after they are locked, with all that the attempts of a lane have in common. As a
 * separate statement it sees all looks and pauses committed before.
 */
export const READ_FLOWS = statement(
  'read flows',
  `select a.id, a.kind, a.name as action_name, ${forwardColumns()}, a.paused_at, a.drain_per_second,
          a.is_active, a.suspended_by_plan, a.off_since, exists (select from transformation_rules t where t.action_id = a.id) as has_rules,
          (extract(epoch from f.next_start_at) * 1000)::float8 as next_start_ms, f.not_before, f.breaker, f.next_probe_at, f.closed_at, clock_timestamp() as clock_at,
          e.workspace_id, e.name as endpoint_name, coalesce(e.capture_id, e.id) as capture_id, w.plan,
          case when w.sealed_until > clock_timestamp() then least(w.sealed_until, clock_timestamp() + interval '${SEALED_SECONDS} s') end as sealed_until,
          b.is_bound, case when b.is_bound then
            (select count(*)::int from deliveries d where d.action_id = a.id and d.flow_state = 'sending') +
            (select count(*)::int from replays p join replay_items g on g.replay_id = p.id
            where p.action_id = a.id and g.state = 'sending' and g.lease_ends_at > clock_timestamp())
          else 0 end as sending
  from unnest($1::uuid[]) as lane (id)
    cross join lateral (select * from action_flows where action_id = lane.id offset 0) f
    join actions a on a.id = f.action_id join endpoints e on e.id = a.endpoint_id
    join workspaces w on w.id = e.workspace_id
    cross join lateral (select ${IS_BOUND} as is_bound offset 0) b`,
)

/** A lane, as {@link READ_FLOWS} gives it. */
export type LaneRow = RowsOf<typeof READ_FLOWS>

/** Replays in bulk have 1, all others 0. The index of waiting deliveries has it before their due time. */
const PRIORITIES = [0, 1]

/** SQL of a condition: a delivery waits, and is due at a time. */
export const dueBy = (at: string): string =>
  `flow_state = 'waiting' and priority in (${PRIORITIES.join(', ')}) and flow_due_at <= ${at}::timestamptz`

/** SQL of the first deliveries that wait and are due: by priority, then the longest due. */
function firstDue(
  columns: string,
  { of, at, most, lock = '' }: Readonly<Record<'of' | 'at' | 'most', string>> & { readonly lock?: string },
): string {
  const parts = PRIORITIES.map(
    (priority) => `select * from (
      select ${columns} from deliveries
      where ${of} and flow_state = 'waiting' and priority = ${priority} and flow_due_at <= ${at}::timestamptz
      order by flow_due_at, id limit ${most} ${lock}) first`,
  )
  return `select * from (${parts.join(' union all ')}) due limit ${most}`
}

/** SQL of the time when the next waiting delivery is due, of any priority. */
function nextDue(of: string): string {
  const parts = PRIORITIES.map(
    (priority) => `(
      select flow_due_at from deliveries where ${of} and flow_state = 'waiting' and priority = ${priority}
      order by flow_due_at, id limit 1)`,
  )
  return `least(${parts.join(', ')})`
}

/**
 * Takes deliveries of the lanes `$1` without bounds that are due at `$2`: up to `$3` of each, the longest due first, and
 * replays in bulk after all others. It leaves those that another look takes. A delivery with a key is for looks at a
 * lane with bounds. One row for each lane has only `next_at`: when its next delivery is due. The first deliveries of all
 * lanes are taken before the second ones, so that large bodies of one leave room for the others.
 */
export const TAKE_ANY = statement(
  'take any deliveries',
  `with due as (
    select lane.id as action_id, d.*
    from unnest($1::uuid[], $3::int[]) as lane (id, most)
    cross join lateral (${firstDue('id, endpoint_id, request_id, flow_due_at, priority', {
      of: 'action_id = lane.id and order_key is null',
      at: '$2',
      most: 'lane.most',
      lock: 'for update skip locked',
    })}) d
  ), ranked as (
    select c.id, coalesce(r.bytes, 0) as bytes, c.flow_due_at,
           row_number() over (partition by c.action_id order by c.priority, c.flow_due_at, c.id) as place
    from due c
    ${WITH_BYTES}
  ), sized as (
    select id, bytes, sum(bytes) over (order by place, flow_due_at, id) as bytes_so_far from ranked
  ), taken as (
    update deliveries d set flow_state = 'sending'
    from sized s
    where d.id = s.id and (s.bytes_so_far = s.bytes or s.bytes_so_far <= ${LOOK_BYTES_MAX})
    returning d.id, d.action_id, d.attempt_count, s.bytes
  )
  select action_id, id, attempt_count + 1 as attempt, bytes::int as body_bytes, null::timestamptz as next_at from taken
  union all
  select lane.id, null, 0, 0, ${nextDue('action_id = lane.id and id not in (select id from taken)')}
  from unnest($1::uuid[]) as lane (id)`,
  { notNull: ['actionId'] },
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
    ${firstDue('id, endpoint_id, request_id, attempt_count, order_key, flow_due_at, priority', {
      of: 'action_id = $1::uuid',
      at: '$2',
      most: '$4::int',
    })}
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
           sum(coalesce(r.bytes, 0)) over (order by c.priority, c.flow_due_at, c.id) as bytes_so_far
    from (
      select * from candidates where id not in (select id from keyed)
      order by priority, flow_due_at, id limit $3::int) c
    ${WITH_BYTES}
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
export const NEXT_DUE = statement('next due of flow', `select ${nextDue('action_id = $1')} as due_at`)

/**
 * Stores the result of a look: the next start `$2`, and after a probe the time `$3` of the next probe. Null changes
 * nothing. The start is in milliseconds with their fraction, without which a rate would be passed.
 */
export const MOVE_FLOW = statement(
  'move flow',
  `update action_flows set
    next_start_at = coalesce(to_timestamp($2::float8 / 1000), next_start_at),
    breaker = case when $3::timestamptz is null then breaker else 'probing' end,
    next_probe_at = coalesce($3::timestamptz, next_probe_at)
  where action_id = $1`,
)

/**
 * Reserves a new time for a start that was missed: `$2` is the earliest, `$3` the spacing in milliseconds, `$4` the time
 * that was missed. If that was the last one that is reserved, its spacing counts for the new one, which would else be a
 * whole period later: up to an hour, for which no lease lasts.
 */
export const RESERVE_START = statement(
  'reserve start',
  `update action_flows set next_start_at = $3::float8 * interval '1 ms' + greatest($2::timestamptz,
    case when next_start_at >= $4::timestamptz + 1.5 * $3::float8 * interval '1 ms' then next_start_at end)
  where action_id = $1
  returning next_start_at - $3::float8 * interval '1 ms' as start_at`,
)

/**
 * Actions with a delivery that is waiting. It steps through the index from one action to
 * the next, however many deliveries each has.
 */
const BUSY = `busy as (
    (select action_id from deliveries where flow_state = 'waiting' order by action_id limit 1)
    union all
    select next.action_id from busy cross join lateral (
      select d.action_id from deliveries d
      where d.flow_state = 'waiting' and d.action_id > busy.action_id
      order by d.action_id limit 1) next
  )`

/**
 * Lanes with deliveries that were due at `$1`, and lanes whose action is gone. A lane of an action that is off has some
 * that end unsent.
 */
export const OVERDUE_LANES = statement(
  'overdue flows',
  `with recursive ${BUSY}
  select a.id, e.workspace_id from busy join actions a on a.id = busy.action_id join endpoints e on e.id = a.endpoint_id
  where (a.paused_at is null or not a.is_active or a.suspended_by_plan)
    and exists (
      select from deliveries d
      where d.action_id = a.id and ${dueBy('$1')})
  union all
  select busy.action_id, (
    select workspace_id from deliveries where action_id = busy.action_id and flow_state = 'waiting' limit 1)
  from busy where not exists (select from actions where id = busy.action_id)`,
  { notNull: ['workspaceId'] },
)

/** Counts deliveries that are due at `$1`, of actions that are neither paused nor off. */
export const WAITING = statement(
  'deliveries waiting',
  `with recursive ${BUSY} ${waitingOf(`
    select d.flow_due_at as due_at from busy join actions a on a.id = busy.action_id cross join lateral (
      select flow_due_at from deliveries where action_id = a.id and ${dueBy('$1')}) d
    where a.paused_at is null and a.is_active and not a.suspended_by_plan`)}`,
)

/** Flows of the workspace `$1` with deliveries. */
export const LANES_OF_WORKSPACE = statement(
  'flows of workspace',
  `select distinct d.action_id as id, d.workspace_id from deliveries d
  where d.workspace_id = $1 and d.flow_state in ('waiting', 'sending', 'behind')`,
)

/** Lanes of the actions `$1`. */
export const LANES_OF_ACTIONS = statement(
  'lanes of actions',
  `select a.id, e.workspace_id from actions a join endpoints e on e.id = a.endpoint_id where a.id = any($1::uuid[])`,
)
