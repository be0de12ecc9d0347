import { aheadMs, type Services } from '../../api/services.ts'
import type { Lane, LaneWithSlots, Look, Room, Send } from '../../dispatch/index.ts'
import { announceEndpointChange } from '../../platform/changes/index.ts'
import { type RowsOf, run, statement, type Trx } from '../../platform/db/index.ts'
import type { Attempt } from '../attempt.ts'
import { type ClaimServices, claimForwards } from '../claim.ts'
import { claimNotifies } from '../claimNotifies.ts'
import { type DueAttempt, isOff, offUntil } from '../dueAttempts.ts'
import { type DeliveryPolicy, storedPolicy } from '../policy.ts'
import { type Decision, decide, type Flow } from './decide.ts'
import {
  GIVE_BACK,
  type LaneRow,
  LOCK_FLOW,
  LOCK_FLOWS,
  MOVE_FLOW,
  NEXT_DUE,
  READ_FLOWS,
  TAKE_ANY,
  TAKE_DELIVERIES,
} from './statements.ts'
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

/** A claimed attempt of a delivery. */
export interface FlowSend extends Send {
  readonly attempt: Attempt
  /** Whether its lane had bounds: its end lets others start. */
  readonly isBound: boolean
}

type LookServices = ClaimServices & Pick<Services, 'enqueue' | 'urls'>

/**
 * Looks at the lane of an action and claims the attempts that may start now. Concurrency and pace hold over all
 * processes, and each key keeps its order. Nothing starts while the action is paused; an open breaker lets only probes
 * start. One process at a time looks at a lane with such bounds; others are looked at by several.
 */
export async function lookAtFlow(
  services: LookServices,
  trx: Trx,
  lane: Lane,
  room: Room,
): Promise<Look<FlowSend>> {
  const [lock] = await run(trx, LOCK_FLOW, [lane.id])
  const [row] = await run(trx, READ_FLOWS, [[lane.id]])
  if (row === undefined) return await dropOrphans(trx, lane.id)
  if (!lock?.isLocked || (row.isBound && !lock.isBound))
    return { sends: [], nextInMs: BUSY_MS * (1 + Math.random()), isAlone: row.isBound }
  const clockAt = row.clockAt.getTime() + aheadMs(services.clock)
  const shown = { clockAt, isAlone: row.isBound }
  const flow = flowOf(row)
  const decision = decide(flow, clockAt, room)
  if (decision.kind === 'wait') return { ...waiting(row, decision, clockAt), ...shown }
  const look = await takeAndClaim({ ...services, db: trx }, trx, row, decision, flow.policy)
  const isIdle = look.sends.length === 0 && look.nextInMs !== 0
  const isDrained = isIdle && row.drainPerSecond !== null
  return { ...look, ...shown, ...(isDrained ? { afterwards: () => endDrain(services, lane.id) } : {}) }
}

/**
 * Looks at lanes without bounds, like {@link lookAtFlow}. Left out are lanes with a bound or a pace, those that another
 * process has locked, and those that the bodies of others left no room for.
 */
export async function lookAtFlows(
  services: LookServices,
  trx: Trx,
  lanes: readonly LaneWithSlots[],
): Promise<ReadonlyMap<string, Look<FlowSend>>> {
  const looks = new Map<string, Look<FlowSend>>()
  const locked = await run(trx, LOCK_FLOWS, [lanes.map(({ id }) => id)])
  if (locked.length === 0) return looks
  const slots = new Map(lanes.map((lane) => [lane.id, lane.slots]))
  const going: { readonly id: string; readonly limit: number; readonly row: LaneRow }[] = []
  for (const row of await run(trx, READ_FLOWS, [locked.map(({ id }) => id)])) {
    const { id } = row
    const clockAt = row.clockAt.getTime() + aheadMs(services.clock)
    const decision = decide(flowOf(row), clockAt, { slots: slots.get(id) ?? 0, leadMs: 0 })
    if (decision.kind === 'wait') looks.set(id, waiting(row, decision, clockAt))
    else if (!row.isBound && decision.spacingMs === 0 && !decision.isProbe)
      going.push({ id, limit: decision.limit, row })
  }
  if (going.length === 0) return looks
  const now = services.clock.now()
  const lanesTaken = await takeAny(trx, going, now)
  const claiming = { ...services, db: trx }
  const claimed: ClaimedSend[] = []
  for (const [kind, ofKind] of Map.groupBy(going, ({ row }) => row.kind)) {
    const taken = ofKind.flatMap(({ id }) => lanesTaken.get(id)?.taken ?? [])
    const rows = ofKind.map(({ row }) => row)
    claimed.push(...(await claimTaken(claiming, trx, { kind, rows, taken })))
  }
  const sends = Map.groupBy(claimed, ({ attempt }) => attempt.action.id)
  for (const { id, limit } of going) {
    const { taken = [], nextAt = null } = lanesTaken.get(id) ?? {}
    const isLeftOut = taken.length === 0 && nextAt && nextAt <= now
    if (isLeftOut) continue
    const found = (sends.get(id) ?? []).map((send): FlowSend => ({ ...send, isBound: false }))
    looks.set(id, { sends: found, nextInMs: nextInMs({ taken, nextAt }, limit, now) })
  }
  return looks
}

/** Deliveries that one look drops. */
const DROPPED_AT_ONCE = 1_000

const DROP_ORPHANS = statement(
  'drop deliveries without action',
  `delete from deliveries where id in (
    select id from deliveries
    where action_id = $1::uuid and flow_state = 'waiting' and not exists (select from actions where id = $1::uuid)
    order by id limit ${DROPPED_AT_ONCE} for update skip locked)
  returning endpoint_id`,
)

/**
 * Drops deliveries whose action is gone: a capture or a replay that commits while the action is being deleted leaves
 * some that the deletion does not see. The next look drops those that waited behind them.
 */
async function dropOrphans(trx: Trx, actionId: string): Promise<Look<FlowSend>> {
  const rows = await run(trx, DROP_ORPHANS, [actionId])
  if (rows.length > 0) await announceEndpointChange(trx, ...new Set(rows.map(({ endpointId }) => endpointId)))
  return { sends: [], nextInMs: rows.length > 0 ? 0 : null }
}

/** A look at a lane where nothing may start. */
function waiting(
  { pausedAt }: Pick<LaneRow, 'pausedAt'>,
  { until }: Extract<Decision, { kind: 'wait' }>,
  clockAt: number,
): Look<FlowSend> {
  const nextInMs = until === null ? null : Math.max(1, until - clockAt)
  return { sends: [], nextInMs, opensBy: nextInMs !== null || pausedAt !== null ? 'change' : 'end' }
}

type Going = Extract<Decision, { kind: 'go' }>

async function takeAndClaim(
  services: LookServices,
  trx: Trx,
  lane: LaneRow,
  { limit, firstAt, spacingMs, isProbe }: Going,
  policy: DeliveryPolicy,
): Promise<Look<FlowSend>> {
  const { kind, isBound } = lane
  const now = services.clock.now()
  const found = isBound
    ? await takeInOrder(trx, lane.id, now, limit)
    : ((await takeAny(trx, [{ id: lane.id, limit }], now)).get(lane.id) ?? NONE)
  const claimed = await claimTaken(services, trx, { kind, rows: [lane], taken: found.taken })
  const sends = claimed.map(
    (send, index): FlowSend => ({
      ...send,
      isBound,
      start:
        spacingMs === 0
          ? null
          : { at: firstAt + index * spacingMs, spacingMs, isStrict: Boolean(policy.rate) },
    }),
  )
  if (sends.length > 0 && (spacingMs > 0 || isProbe)) {
    const nextStartAt = spacingMs === 0 ? null : firstAt + sends.length * spacingMs
    const probeEveryMs = (policy.breaker?.probeEverySeconds ?? 0) * 1000
    const nextProbeAt = isProbe ? new Date(firstAt + probeEveryMs) : null
    await run(trx, MOVE_FLOW, [lane.id, nextStartAt, nextProbeAt])
  }
  return { sends, nextInMs: nextInMs(found, limit, now) }
}

type ClaimedSend = Omit<FlowSend, 'isBound' | 'start'>

/** Begins the attempts of deliveries that a look has taken out of lanes of one kind. */
async function claimTaken(
  services: LookServices,
  trx: Trx,
  { kind, rows, taken }: { readonly kind: string; readonly rows: readonly LaneRow[] } & Pick<Taken, 'taken'>,
): Promise<readonly ClaimedSend[]> {
  if (taken.length === 0) return []
  const { attempts, others } =
    kind === 'forward'
      ? await claimForwards(services, new Map(rows.map((row) => [row.id, row])), taken)
      : await claimNotifies(services, trx, taken)
  if (others.length > 0) {
    // The request of these is gone, or the action was switched off a moment ago.
    const ids = others.map(({ deliveryId }) => deliveryId)
    await run(trx, GIVE_BACK, [ids])
    await run(trx, REMOVE_UNREACHABLE, [ids])
  }
  const bytesOf = new Map(taken.map(({ deliveryId, bodyBytes }) => [deliveryId, bodyBytes]))
  return attempts.map((attempt) => ({
    attempt,
    bytes: bytesOf.get(attempt.deliveryId ?? 0) ?? 0,
    leaseUntil: attempt.leaseUntil,
  }))
}

interface Taken {
  readonly taken: readonly (DueAttempt & { readonly bodyBytes: number })[]
  /** When the next delivery of the lane is due; null without any, undefined if it is unknown. */
  readonly nextAt: Date | null | undefined
}

const NONE: Taken = { taken: [], nextAt: null }

/** Milliseconds until the next look at a lane, of which up to `limit` deliveries were taken. */
function nextInMs({ taken, nextAt }: Taken, limit: number, now: Date): number | null {
  if (nextAt === undefined) return 0
  if (nextAt === null) return null
  return Math.max(taken.length >= limit ? 0 : PASSED_OVER_MS, nextAt.getTime() - now.getTime())
}

/** Takes due deliveries of lanes without bounds; returns them by the id of their lane. */
async function takeAny(
  trx: Trx,
  lanes: readonly { readonly id: string; readonly limit: number }[],
  now: Date,
): Promise<ReadonlyMap<string, Taken>> {
  const rows = await run(trx, TAKE_ANY, [lanes.map(({ id }) => id), now, lanes.map(({ limit }) => limit)])
  const found = new Map<string, Taken>()
  for (const [actionId, ofLane] of Map.groupBy(rows, (row) => row.actionId))
    found.set(actionId, {
      taken: ofLane.flatMap(takenOf),
      nextAt: ofLane.find(({ id }) => id === null)?.nextAt ?? null,
    })
  return found
}

/** Takes due deliveries. Repeats the statement while it finds only deliveries behind others of their key. */
async function takeInOrder(trx: Trx, actionId: string, now: Date, limit: number): Promise<Taken> {
  const taken: Taken['taken'][number][] = []
  for (let round = 0; round < ROUNDS_MAX && taken.length < limit; round += 1) {
    const wanted = limit - taken.length
    const scan = Math.min(SCAN_MAX, Math.max(SCAN_MIN, 4 * wanted))
    const rows = await run(trx, TAKE_DELIVERIES, [actionId, now, wanted, scan])
    taken.push(...rows.flatMap(takenOf))
    const { putBehind = 0, candidates = 0 } = rows[0] ?? {}
    if (candidates < scan || putBehind === 0) break
  }
  if (taken.length >= limit) return { taken, nextAt: undefined }
  const [next] = await run(trx, NEXT_DUE, [actionId])
  return { taken, nextAt: next?.dueAt ?? null }
}

type TakenRow = Pick<RowsOf<typeof TAKE_ANY>, 'id' | 'attempt' | 'bodyBytes'>

const takenOf = ({ id, attempt, bodyBytes }: TakenRow): Taken['taken'] =>
  id === null ? [] : [{ deliveryId: id, attempt, bodyBytes }]

/** The state of a flow, as it was read. */
export function flowOf(row: LaneRow): Flow & { readonly policy: DeliveryPolicy } {
  return {
    policy: storedPolicy(row.deliveryPolicy),
    sealedUntil: row.sealedUntil?.getTime() ?? null,
    isPaused: row.pausedAt !== null,
    endsAt: isOff(row) ? offUntil(row, row.clockAt).getTime() : null,
    drainPerSecond: row.drainPerSecond,
    nextStartAt: row.nextStartMs,
    notBefore: row.notBefore?.getTime() ?? null,
    breaker: row.breaker,
    nextProbeAt: row.nextProbeAt?.getTime() ?? null,
    closedAt: row.closedAt?.getTime() ?? null,
    sending: row.sending,
  }
}

/**
 * Removes those of the deliveries `$1` whose action, endpoint or request is gone. Others cannot be claimed because another
 * worker took them.
 */
const REMOVE_UNREACHABLE = statement(
  'remove unreachable deliveries',
  `delete from deliveries d
  where d.id = any($1::bigint[]) and d.finished_at is null
    and not exists (
      select from actions a join endpoints e on e.id = a.endpoint_id and e.deleted_at is null
      join requests r on r.endpoint_id = d.endpoint_id and r.id = d.request_id
      where a.id = d.action_id)
  returning d.id`,
)
