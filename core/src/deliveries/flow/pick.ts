import { aheadMs } from '../../api/services.ts'
import type { Lane, Look, Room, Send } from '../../dispatch/index.ts'
import { type RowsOf, run, type Trx } from '../../platform/db/index.ts'
import type { Attempt } from '../attempt.ts'
import type { DueAttempt } from '../attemptJobs.ts'
import { type ClaimServices, claimForwards } from '../claim.ts'
import { offUntil } from '../dueAttempts.ts'
import { type DeliveryPolicy, storedPolicy } from '../policy.ts'
import { removeUnreachable } from '../unreachable.ts'
import { BREAKER_STATES, type Decision, decide, type Flow } from './decide.ts'
import { GIVE_BACK, LOCK_FLOW, MOVE_FLOW, NEXT_DUE, READ_FLOW, TAKE_DELIVERIES } from './statements.ts'
import { endDrain } from './upkeep.ts'

/**
 * Bounds for the number of due deliveries that one statement looks at. It passes over those behind others of their key.
 */
const SCAN_MIN = 200
const SCAN_MAX = 1000
/** The most statements of one look. The next look continues. */
const ROUNDS_MAX = 10
/** Delay until deliveries that could not be taken are looked at again. */
const PASSED_OVER_MS = 50
/** Delay before another look while another process looks at the flow: this long, up to twice as long. */
const BUSY_MS = 20

/** A claimed attempt of a delivery that waited in a flow. */
export interface FlowSend extends Send {
  readonly attempt: Attempt
}

/** A look that found nothing, and that only a new delivery makes worth repeating. */
const NOTHING: Look<FlowSend> = { sends: [], nextInMs: null }

/**
 * Looks at the flow of an action and claims the attempts that may start now. Concurrency and pace hold over all
 * processes, and each key keeps its order. Nothing starts while the action is paused; an open breaker lets only probes
 * start. One process looks at a flow at a time.
 */
export async function lookAtFlow(
  services: ClaimServices,
  trx: Trx,
  lane: Lane,
  room: Room,
): Promise<Look<FlowSend>> {
  const locked = await run(trx, LOCK_FLOW, [lane.id])
  const [row] = await run(trx, READ_FLOW, [lane.id])
  if (row === undefined) return NOTHING
  if (locked.length === 0) return { sends: [], nextInMs: BUSY_MS * (1 + Math.random()) }
  const clockAt = row.clockAt.getTime() + aheadMs(services.clock)
  const flow = flowOf(row)
  const decision = decide(flow, clockAt, room)
  if (decision.kind === 'wait') {
    const nextInMs = decision.until === null ? null : Math.max(1, decision.until - clockAt)
    const isShut = nextInMs !== null || row.pausedAt !== null
    return { sends: [], clockAt, nextInMs, opensBy: isShut ? 'change' : 'end' }
  }
  const look = await takeAndClaim({ ...services, db: trx }, trx, lane, decision, flow.policy)
  const isIdle = look.sends.length === 0 && look.nextInMs !== 0
  const isDrained = isIdle && row.drainPerSecond !== null
  return { ...look, clockAt, ...(isDrained ? { afterwards: () => endDrain(services, lane.id) } : {}) }
}

type Going = Extract<Decision, { kind: 'go' }>

async function takeAndClaim(
  services: ClaimServices,
  trx: Trx,
  lane: Lane,
  { limit, firstAt, spacingMs, isProbe }: Going,
  policy: DeliveryPolicy,
): Promise<Look<FlowSend>> {
  const now = services.clock.now()
  const taken = await take(trx, lane, now, limit)
  const { attempts, others } = await claimForwards(services, taken, true)
  if (others.length > 0) {
    // The request of these is gone, or the action was switched off a moment ago.
    const ids = others.map(({ deliveryId }) => deliveryId)
    await run(trx, GIVE_BACK, [ids])
    await removeUnreachable(trx, ids)
  }
  const bytesOf = new Map(taken.map(({ deliveryId, bodyBytes }) => [deliveryId, bodyBytes]))
  const sends = attempts.map(
    (attempt, index): FlowSend => ({
      attempt,
      bytes: bytesOf.get(attempt.deliveryId ?? 0) ?? 0,
      leaseUntil: attempt.leaseUntil,
      start:
        spacingMs === 0
          ? null
          : { at: firstAt + index * spacingMs, spacingMs, isStrict: Boolean(policy.rate) },
    }),
  )
  if (sends.length > 0 && (spacingMs > 0 || isProbe)) {
    const nextStartAt = spacingMs === 0 ? null : new Date(firstAt + sends.length * spacingMs)
    const probeEveryMs = (policy.breaker?.probeEverySeconds ?? 0) * 1000
    const nextProbeAt = isProbe ? new Date(firstAt + probeEveryMs) : null
    await run(trx, MOVE_FLOW, [lane.id, nextStartAt, nextProbeAt])
  }
  if (taken.length >= limit) return { sends, nextInMs: 0 }
  const [next] = await run(trx, NEXT_DUE, [lane.id])
  const dueInMs = next?.dueAt ? next.dueAt.getTime() - now.getTime() : null
  return { sends, nextInMs: dueInMs === null ? null : Math.max(PASSED_OVER_MS, dueInMs) }
}

/** Takes due deliveries. Repeats the statement while it finds only deliveries behind others of their key. */
async function take(
  trx: Trx,
  { id: actionId, workspaceId }: Lane,
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
