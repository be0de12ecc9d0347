import { aheadMs } from '../../api/services.ts'
import type { SlotLane } from '../../dispatch/index.ts'
import { type RowsOf, run, type Trx } from '../../platform/db/index.ts'
import type { Attempt } from '../attempt.ts'
import type { DueAttempt } from '../attemptJobs.ts'
import { type ClaimServices, claimForwards } from '../claim.ts'
import { offUntil } from '../dueAttempts.ts'
import { type DeliveryPolicy, storedPolicy } from '../policy.ts'
import { BREAKER_STATES, type Decision, decide, type Flow, type Room } from './decide.ts'
import { GIVE_BACK, LOCK_FLOW, MOVE_FLOW, NEXT_DUE, READ_FLOW, TAKE_DELIVERIES } from './statements.ts'

/**
 * Bounds for the number of due deliveries that one statement looks at. It passes over those behind others of their key.
 */
const SCAN_MIN = 200
const SCAN_MAX = 1000
/** The most statements of one look. The next look continues. */
const ROUNDS_MAX = 10
/** Delay until deliveries that could not be taken are looked at again. */
const PASSED_OVER_MS = 50

/** A claimed attempt and the time of its start. */
export interface PacedAttempt {
  readonly attempt: Attempt
  readonly bodyBytes: number
  /** Milliseconds of the database's clock; null starts at once. */
  readonly startAt: number | null
  readonly spacingMs: number
  /** Whether the start is under a rate: if it is late, it gets a new time. */
  readonly isStrict: boolean
}

/** Result of a look at a flow. */
export interface Picked {
  readonly attempts: readonly PacedAttempt[]
  /** Deliveries whose request, endpoint or action is gone, for `claimDeferred`. */
  readonly others: readonly DueAttempt[]
  /** Whether another process holds the flow's lock: retry soon. */
  readonly isBusy: boolean
  /** Whether more deliveries may be due now. */
  readonly hasMore: boolean
  /** Delay until the next look; null if only a signal leads to one. */
  readonly nextLookInMs: number | null
  /**
   * Signal that justifies an earlier look. `work`: a new delivery. `end`: the flow is at capacity. `change`: the flow
   * is paused, or nothing may start before a known time.
   */
  readonly opensBy: 'work' | 'end' | 'change'
  /** The database's clock at the look, in milliseconds. */
  readonly clockAt: number
  readonly drainPerSecond: number | null
}

/** A look that found nothing. */
export const NOTHING: Picked = {
  attempts: [],
  others: [],
  isBusy: false,
  hasMore: false,
  nextLookInMs: null,
  opensBy: 'work',
  clockAt: 0,
  drainPerSecond: null,
}

/**
 * Looks at the flow of an action and claims the attempts that may start now. Concurrency and pace hold over all
 * processes, and each key keeps its order. Nothing starts while the action is paused; an open breaker lets only probes
 * start. The Pending rows are durable when this returns.
 *
 * One process looks at a flow at a time.
 */
export async function pickAttempts(services: ClaimServices, actionId: string, room: Room): Promise<Picked> {
  return await services.db.transaction().execute(async (trx) => {
    const locked = await run(trx, LOCK_FLOW, [actionId])
    if (locked.length === 0) return { ...NOTHING, isBusy: true }
    const [row] = await run(trx, READ_FLOW, [actionId])
    if (row === undefined) return NOTHING
    const clockAt = row.clockAt.getTime() + aheadMs(services.clock)
    const flow = flowOf(row)
    const decision = decide(flow, clockAt, room)
    const known = { ...NOTHING, clockAt, drainPerSecond: row.drainPerSecond }
    if (decision.kind === 'wait') {
      const nextLookInMs = decision.until === null ? null : Math.max(0, decision.until - clockAt)
      const isShut = nextLookInMs !== null || row.pausedAt !== null
      return { ...known, nextLookInMs, opensBy: isShut ? 'change' : 'end' }
    }
    return {
      ...known,
      ...(await takeAndClaim({ ...services, db: trx }, trx, { id: actionId, ...row }, decision, flow.policy)),
    }
  })
}

type Going = Extract<Decision, { kind: 'go' }>

async function takeAndClaim(
  services: ClaimServices,
  trx: Trx,
  lane: SlotLane,
  { limit, firstAt, spacingMs, isProbe }: Going,
  policy: DeliveryPolicy,
): Promise<Partial<Picked>> {
  const now = services.clock.now()
  const taken = await take(trx, lane, now, limit)
  const { attempts, others } = await claimForwards(services, taken, true)
  // The request of these is gone, or the action was switched off a moment ago.
  if (others.length > 0) await run(trx, GIVE_BACK, [others.map(({ deliveryId }) => deliveryId)])
  const bytesOf = new Map(taken.map(({ deliveryId, bodyBytes }) => [deliveryId, bodyBytes]))
  const paced = attempts.map(
    (attempt, index): PacedAttempt => ({
      attempt,
      bodyBytes: bytesOf.get(attempt.deliveryId ?? 0) ?? 0,
      startAt: spacingMs === 0 ? null : firstAt + index * spacingMs,
      spacingMs,
      isStrict: Boolean(policy.rate),
    }),
  )
  if (paced.length > 0 && (spacingMs > 0 || isProbe)) {
    const nextStartAt = spacingMs === 0 ? null : new Date(firstAt + paced.length * spacingMs)
    const probeEveryMs = (policy.breaker?.probeEverySeconds ?? 0) * 1000
    const nextProbeAt = isProbe ? new Date(firstAt + probeEveryMs) : null
    await run(trx, MOVE_FLOW, [lane.id, nextStartAt, nextProbeAt])
  }
  if (taken.length >= limit) return { attempts: paced, others, hasMore: true }
  const [next] = await run(trx, NEXT_DUE, [lane.id])
  const dueInMs = next?.dueAt ? next.dueAt.getTime() - now.getTime() : null
  const nextLookInMs = dueInMs === null ? null : Math.max(PASSED_OVER_MS, dueInMs)
  return { attempts: paced, others, nextLookInMs }
}

/** Takes due deliveries. Repeats the statement while it finds only deliveries behind others of their key. */
async function take(
  trx: Trx,
  { id: actionId, workspaceId }: SlotLane,
  now: Date,
  limit: number,
): Promise<DueAttempt[]> {
  const taken: DueAttempt[] = []
  for (let round = 0; round < ROUNDS_MAX && taken.length < limit; round += 1) {
    const wanted = limit - taken.length
    const scan = Math.min(SCAN_MAX, Math.max(SCAN_MIN, 4 * wanted))
    const rows = await run(trx, TAKE_DELIVERIES, [actionId, now, wanted, scan])
    for (const { id, attempt, bodyBytes } of rows)
      if (id !== null) taken.push({ deliveryId: id, attempt, actionId, workspaceId, bodyBytes })
    const { putBehind = 0, candidates = 0 } = rows[0] ?? {}
    if (candidates < scan || putBehind === 0) break
  }
  return taken
}

/** The state of a flow, as it was read. */
export function flowOf(row: RowsOf<typeof READ_FLOW>): Flow & { readonly policy: DeliveryPolicy } {
  return {
    policy: storedPolicy(row.deliveryPolicy),
    sealedUntil: row.sealedUntil?.getTime() ?? null,
    isPaused: row.pausedAt !== null,
    endsAt: row.isOn ? null : offUntil(row, row.clockAt).getTime(),
    drainPerSecond: row.drainPerSecond,
    nextStartAt: row.nextStartAt?.getTime() ?? null,
    notBefore: row.notBefore?.getTime() ?? null,
    breaker: BREAKER_STATES.find((state) => state === row.breaker) ?? 'closed',
    nextProbeAt: row.nextProbeAt?.getTime() ?? null,
    closedAt: row.closedAt?.getTime() ?? null,
    sending: row.sending,
  }
}
