import { closeIncidents, closeIncidentsSilently } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { LEAD_MS_MAX } from '../../dispatch/index.ts'
import { type Db, run, statement, type Trx } from '../../platform/db/index.ts'
import { storedPolicy } from '../policy.ts'
import { AHEAD_MS, spacingOf } from './decide.ts'
import { free } from './held.ts'

/** Kinds of incidents about an action. */
export const ACTION_INCIDENTS = [
  'certificate.expiring',
  'delivery.parked',
  'delivery.failing',
  'delivery.held',
  'delivery.backlog',
  'breaker.opened',
] as const

const CLOSE_BREAKER = statement(
  'close breaker',
  `update action_flows set breaker = 'closed', failures = '{}', opened_at = null, next_probe_at = null
  where action_id = $1 and (breaker <> 'closed' or failures <> '{}')`,
)

/**
 * `$2` and `$3`: the most seconds to the next start, and to the next probe. `least` passes over nulls, and a time that is
 * not set must stay so.
 */
const MOVE_FORWARD = statement(
  'move starts forward',
  `update action_flows set
    next_start_at = case when next_start_at is not null
      then least(next_start_at, clock_timestamp() + $2::float8 * interval '1 s') end,
    next_probe_at = case when next_probe_at is not null
      then least(next_probe_at, clock_timestamp() + $3::float8 * interval '1 s') end
  where action_id = $1 and (next_start_at > clock_timestamp() or next_probe_at > clock_timestamp())`,
)

const FOLLOW_CLOCK = statement(
  'starts follow clock',
  `update action_flows set
    next_start_at = case when next_start_at > clock_timestamp() then next_start_at - s.back else next_start_at end,
    next_probe_at = case when next_probe_at > clock_timestamp() then next_probe_at - s.back else next_probe_at end
  from (select $1::float8 * interval '1 s' as back) s
  where next_start_at > clock_timestamp() or next_probe_at > clock_timestamp()`,
  { isPrepared: false },
)

/**
 * Moves all starts and probes that are reserved after the clock of the database was set back. Without it those of a pace
 * would wait as long.
 *
 * @param seconds at most as many as it was set back: a start is never early
 */
export async function startsFollowClock(db: Db, seconds: number): Promise<void> {
  await run(db, FOLLOW_CLOCK, [seconds])
}

const FORGET_DELAY = statement(
  'forget delay of flow',
  `update action_flows set not_before = null
  where action_id = $1 and not_before is not null and ($2 or not (select governed from actions where id = $1))`,
)

/**
 * Ends the delay that a receiver has asked for, by `Retry-After`: of any action, or only of one that has no bounds.
 * The flow is locked.
 */
export async function forgetDelay(trx: Trx, actionId: string, of: 'any' | 'unbound'): Promise<void> {
  await run(trx, FORGET_DELAY, [actionId, of === 'any'])
}

/**
 * Applies a new policy of an action to its waiting deliveries. Without `hold` every held key is freed. Without a
 * breaker the open one is closed. Starts and probes that the former policy had put off for longer come sooner.
 * Deliveries that were queued under an order keep their places.
 */
export async function applyPolicy(
  services: Pick<Services, 'clock' | 'enqueue'>,
  trx: Trx,
  actionId: string,
  policyText: string | null,
): Promise<void> {
  const policy = storedPolicy(policyText)
  const { order, breaker, backlogAlertSeconds } = policy
  if (order?.onDeadLetter !== 'hold') await free(services, trx, actionId, null)
  if (!breaker) {
    await run(trx, CLOSE_BREAKER, [actionId])
    await closeIncidents(services, trx, { kind: 'breaker.opened', subjectIds: [actionId] })
  }
  // Together with the starts that are reserved by now, they stay within the rate.
  const nextMs = LEAD_MS_MAX + AHEAD_MS + spacingOf({ policy, drainPerSecond: null, closedAt: null }, 0)
  await run(trx, MOVE_FORWARD, [actionId, nextMs / 1000, breaker?.probeEverySeconds ?? null])
  if (!backlogAlertSeconds) await closeIncidentsSilently(services, trx, 'delivery.backlog', [actionId])
}
