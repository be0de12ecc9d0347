import { aheadMs, type Services } from '../../api/services.ts'
import type { Room } from '../../dispatch/index.ts'
import { run, type Trx } from '../../platform/db/index.ts'
import { finishAttempts } from '../finishStatement.ts'
import { type Concluded, finishedAttempt } from '../record.ts'
import { decide } from './decide.ts'
import { endSignals, isOfGoverned } from './outcomes.ts'
import { flowOf } from './pick.ts'
import { LOCK_FLOW, MOVE_FLOW, NEXT_DUE, READ_FLOWS } from './statements.ts'

/** Bounds of the interval at which guests look at a flow. */
const LOOK_MS = { shortest: 20, longest: 1000 } as const
/** Interval of looks while deliveries of the flow wait for their own start. */
const YIELD_MS = 200

/** Starts of guests: the first is at `firstAt` by the clock of flows, and the others come `spacingMs` apart. */
export interface GuestStarts {
  readonly limit: number
  readonly firstAt: number
  readonly spacingMs: number
  /** Whether the starts are under a rate. */
  readonly isStrict: boolean
}

/**
 * Decides how many guests may send through the flow of an action now: within its rate and concurrency, while its
 * breaker is closed, and after all deliveries that are due. The caller has found that the action is on and not paused.
 * The flow is locked, which its deliveries need, only if guests may start. {@link startGuests} says until when.
 *
 * @returns milliseconds until the next look if none may start
 */
export async function admitGuests(
  { clock }: Pick<Services, 'clock'>,
  trx: Trx,
  actionId: string,
  room: Room,
): Promise<GuestStarts | number> {
  const look = async () => {
    const [row] = await run(trx, READ_FLOWS, [[actionId]])
    if (!row?.isBound) return undefined
    const flow = flowOf(row)
    if (flow.policy.breaker && flow.breaker !== 'closed') return LOOK_MS.longest
    const clockAt = row.clockAt.getTime() + aheadMs(clock)
    const decision = decide(flow, clockAt, room)
    if (decision.kind === 'go') return { ...decision, isStrict: Boolean(flow.policy.rate) }
    const waitMs = decision.until === null ? YIELD_MS : decision.until - clockAt
    return Math.min(LOOK_MS.longest, Math.max(LOOK_MS.shortest, waitMs))
  }
  const found = await look()
  if (found === undefined) return { limit: room.slots, firstAt: 0, spacingMs: 0, isStrict: false }
  if (typeof found === 'number') return found
  const [next] = await run(trx, NEXT_DUE, [actionId])
  if (next?.dueAt && next.dueAt <= clock.now()) return YIELD_MS
  const [lock] = await run(trx, LOCK_FLOW, [actionId])
  return (lock?.isLocked && lock.isBound ? await look() : undefined) ?? LOOK_MS.shortest
}

/**
 * Reserves the starts of guests in the pace of the flow, which {@link admitGuests} has locked.
 *
 * @param nextStartAt the first start after those of the guests, in milliseconds
 */
export async function startGuests(trx: Trx, actionId: string, nextStartAt: number): Promise<void> {
  await run(trx, MOVE_FLOW, [actionId, nextStartAt, null])
}

/** Records attempts of guests. They change nothing of the action: no breaker, incident, health or `Retry-After`. */
export async function finishGuests(
  services: Pick<Services, 'secrets' | 'clock'>,
  trx: Trx,
  ended: readonly Concluded[],
): Promise<void> {
  if (ended.length > 0) await finishAttempts(services, trx, ended.map(finishedAttempt), services.clock.now())
}

/** Announces recorded attempts of guests, also to the deliveries that have waited for their places. */
export function tellGuests(
  { endpointChanges }: Pick<Services, 'endpointChanges'>,
  ended: readonly Concluded[],
): void {
  endpointChanges.announce([
    ...ended.map(({ attempt }) => attempt.endpoint.id),
    ...endSignals(ended.filter(isOfGoverned)),
  ])
}
