import type { Selectable } from 'kysely'
import { z } from 'zod'
import type { Services } from '../../api/services.ts'
import { Int64, Timestamp } from '../../api/values.ts'
import { storedWord } from '../../engine/words/index.ts'
import { type ActionsTable, type Db, run, statement } from '../../platform/db/index.ts'
import { HOUR_MS } from '../../platform/time/index.ts'
import { type DeliveryPolicy, storedPolicy } from '../policy.ts'
import { BREAKER_STATES, spacingOf } from './decide.ts'

/** The most deliveries that are counted, so that reading a long backlog stays fast. */
const BACKLOG_COUNTED_MAX = 100_000
/** The most held keys in one answer. */
const HELD_SHOWN_MAX = 100
/** Look-ahead for expiring deliveries if the end of the backlog is unknown, as for a paused action. */
const EXPIRY_HOURS = 24

/** Backlog of an action: how many deliveries wait, and why. */
export const Backlog = z
  .object({
    waiting: z.int().describe(`Deliveries that wait; ${BACKLOG_COUNTED_MAX} stands for more`),
    inFlight: z.int().describe('Attempts under way, over all processes'),
    oldestWaitingAt: Timestamp.nullable().describe('When the oldest waiting delivery was queued'),
    keysWaiting: z.int().describe('Keys of which a delivery waits for an earlier one'),
    keysHeld: z
      .array(
        z.object({
          key: z.string(),
          requestId: Int64,
          attemptId: Int64.nullable().describe('The last attempt: the input of a skip'),
          since: Timestamp,
        }),
      )
      .describe(`Keys that a dead letter stops, oldest first, at most ${HELD_SHOWN_MAX}`),
    breaker: z.object({
      state: z.enum(BREAKER_STATES),
      openedAt: Timestamp.nullable(),
      nextProbeAt: Timestamp.nullable(),
    }),
    rate: z
      .object({ count: z.number(), perSeconds: z.int() })
      .nullable()
      .describe('The current rate: of the settings, or of a resume. Null = none'),
    pausedAt: Timestamp.nullable(),
    notBefore: Timestamp.nullable().describe('The receiver asked that nothing starts before'),
    drainsAt: Timestamp.nullable().describe(
      'Estimated end of the backlog at the current rate; null without a rate or while paused',
    ),
    expiring: z
      .int()
      .describe(
        `Waiting deliveries that retention deletes before \`drainsAt\`, or within ${EXPIRY_HOURS} hours if that is null`,
      ),
  })
  .meta({ id: 'Backlog' })

/** An action whose backlog is read. */
interface BacklogOf
  extends Pick<Selectable<ActionsTable>, 'id' | 'deliveryPolicy' | 'pausedAt' | 'drainPerSecond'> {
  /** Retention of requests under the plan. */
  readonly retentionMs: number
}

/** Every part reads an index in order, and stops after {@link BACKLOG_COUNTED_MAX} rows. */
const READ_BACKLOG = statement(
  'read backlog',
  `with open as (
    select d.id, d.request_id, d.endpoint_id, d.flow_state, d.order_key, d.created_at, d.flow_state = 'sending' as is_sending
    from deliveries d
    where d.action_id = $1 and d.flow_state is not null and d.finished_at is null
    order by d.id limit ${BACKLOG_COUNTED_MAX}
  ), flow as (select * from action_flows where action_id = $1)
  select count(*) filter (where not is_sending)::int as waiting,
         count(*) filter (where is_sending)::int as in_flight,
         min(created_at) filter (where not is_sending) as oldest_waiting_at,
         count(distinct order_key) filter (where flow_state = 'behind')::int as keys_waiting,
         (select breaker from flow), (select opened_at from flow), (select next_probe_at from flow),
         (select not_before from flow), (select closed_at from flow)
  from open`,
)

const READ_HELD = statement(
  'read held keys',
  `select d.order_key as key, d.request_id, d.dead_lettered_at as since, (
    select t.id from delivery_attempts t where t.delivery_id = d.id and t.endpoint_id = d.endpoint_id
    order by t.attempt_number desc limit 1) as attempt_id
  from deliveries d where d.action_id = $1 and d.flow_state = 'held' order by d.id limit ${HELD_SHOWN_MAX}`,
  // A held delivery is a dead letter with a key.
  { notNull: ['key', 'since'] },
)

/** Deliveries of the action `$1` that wait, of requests received before `$2`. */
const COUNT_EXPIRING = statement(
  'count expiring deliveries',
  `select count(*)::int as expiring from (
    select from deliveries d join requests r on r.endpoint_id = d.endpoint_id and r.id = d.request_id
    where d.action_id = $1 and d.flow_state in ('waiting', 'behind') and r.received_at < $2
    limit ${BACKLOG_COUNTED_MAX}) expiring`,
)

/** Reads the backlog of an action. The cost is bounded by {@link BACKLOG_COUNTED_MAX}. */
export async function readBacklog(
  { db, clock }: { readonly db: Db } & Pick<Services, 'clock'>,
  action: BacklogOf,
): Promise<z.input<typeof Backlog>> {
  const [[row], keysHeld] = await Promise.all([
    run(db, READ_BACKLOG, [action.id]),
    run(db, READ_HELD, [action.id]),
  ])
  if (row === undefined) throw new Error('An aggregate returned no row.')
  const now = clock.now()
  const policy = storedPolicy(action.deliveryPolicy)
  const state = row.breaker === null ? 'closed' : storedWord(BREAKER_STATES, row.breaker)
  const spacingMs = spacingOf(
    { policy, drainPerSecond: action.drainPerSecond, closedAt: null },
    now.getTime(),
  )
  const isStopped = action.pausedAt !== null || state !== 'closed' || spacingMs === 0
  const drainsAt =
    isStopped || row.waiting === 0
      ? null
      : new Date(Math.max(now.getTime(), row.notBefore?.getTime() ?? 0) + row.waiting * spacingMs)
  const goneBy = drainsAt?.getTime() ?? now.getTime() + EXPIRY_HOURS * HOUR_MS
  const receivedBefore = new Date(goneBy - action.retentionMs)
  const [expiring] =
    row.oldestWaitingAt === null ? [] : await run(db, COUNT_EXPIRING, [action.id, receivedBefore])
  return {
    ...row,
    keysHeld: [...keysHeld],
    breaker: { state, openedAt: row.openedAt, nextProbeAt: row.nextProbeAt },
    rate: paceOf(action.drainPerSecond, policy.rate ?? null),
    pausedAt: action.pausedAt,
    notBefore: row.notBefore !== null && row.notBefore > now ? row.notBefore : null,
    drainsAt,
    expiring: expiring?.expiring ?? 0,
  }
}

type Pace = NonNullable<DeliveryPolicy['rate']>

/** The slower of a drain and a rate; null without both. */
function paceOf(drainPerSecond: number | null, rate: Pace | null): Pace | null {
  if (drainPerSecond === null) return rate
  const drain = { count: drainPerSecond, perSeconds: 1 }
  return rate !== null && rate.count / rate.perSeconds < drainPerSecond ? rate : drain
}

/** The rows of each state, for which there is a small index. */
const ROWS = {
  waiting: "deliveries where flow_state = 'waiting'",
  sending: "delivery_attempts where state = 'Pending' and delivery_id is not null and kind = 'forward'",
  behind: "deliveries where flow_state = 'behind' and behind_id is not null",
  held: "deliveries where flow_state = 'held' and order_key is not null",
}

const READ_FIGURES = statement(
  'read flow figures',
  `select
    (select count(*)::int from actions where governed and paused_at is not null) as paused_actions,
    (select count(*)::int from action_flows where breaker <> 'closed') as breakers_open,
    ${Object.entries(ROWS)
      .map(
        ([state, rows]) => `(select count(*)::int from (
        select from ${rows} limit ${BACKLOG_COUNTED_MAX}) counted) as ${state}`,
      )
      .join(', ')}`,
)

/**
 * Counts paused actions, open breakers and deliveries by state, each state up to {@link BACKLOG_COUNTED_MAX}, for
 * metrics.
 */
export async function readFlowFigures(db: Db) {
  const [row] = await run(db, READ_FIGURES, [])
  if (row === undefined) throw new Error('An aggregate returned no row.')
  const { pausedActions, breakersOpen, ...deliveries } = row
  return { pausedActions, breakersOpen, deliveries }
}
