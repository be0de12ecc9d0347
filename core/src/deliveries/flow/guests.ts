import { aheadMs, type Services } from '../../api/services.ts'
import { insertSlot } from '../../api/slots.ts'
import { run } from '../../platform/db/index.ts'
import { sleep } from '../../platform/time/index.ts'
import { decide } from './decide.ts'
import { flowOf } from './pick.ts'
import { flowSignal } from './signals.ts'
import { GUESTS_SCOPE, LOCK_FLOW, MOVE_FLOW, NEXT_DUE, READ_FLOW } from './statements.ts'

/** Bounds of the interval at which a guest looks at a flow. */
const LOOK_MS = { shortest: 20, longest: 1000 } as const
/** Interval of looks while deliveries of the flow wait for their own start. */
const YIELD_MS = 100
/** A slot of a guest whose process died ends this long after the longest send. */
const LEFT_OVER_MS = 30_000

export interface GuestPlace {
  /** Gives the place back, and lets the flow look for the next delivery. */
  leave(): Promise<void>
}

type Admission = { readonly afterMs: number } | { readonly place: GuestPlace; readonly startsInMs: number }

/**
 * Waits until a guest may send through the flow of an action: within its rate and concurrency, while its breaker is
 * closed, and after all deliveries that are due.
 *
 * @param timeoutSeconds limit of the send
 * @param isOver whether the guest no longer wants the place
 * @returns null if it is over, or the action was paused or switched off
 */
export async function admitGuest(
  services: Services,
  actionId: string,
  { timeoutSeconds, isOver }: { readonly timeoutSeconds: number; isOver(): boolean },
): Promise<GuestPlace | null> {
  while (!isOver()) {
    const admission = await admit(services, actionId, timeoutSeconds * 1000 + LEFT_OVER_MS)
    if (admission === null) return null
    if ('place' in admission) {
      await sleep(admission.startsInMs)
      return admission.place
    }
    await sleep(Math.min(LOOK_MS.longest, Math.max(LOOK_MS.shortest, admission.afterMs)))
  }
  return null
}

async function admit(services: Services, actionId: string, longestMs: number): Promise<Admission | null> {
  return await services.db.transaction().execute(async (trx) => {
    const locked = await run(trx, LOCK_FLOW, [actionId])
    const [row] = await run(trx, READ_FLOW, [actionId])
    // An action without a flow has no bounds.
    if (row === undefined) return { place: { leave: async () => {} }, startsInMs: 0 }
    const flow = flowOf(row)
    if (flow.isPaused || flow.endsAt !== null) return null
    if (locked.length === 0) return { afterMs: LOOK_MS.shortest }
    if (flow.policy.breaker && flow.breaker !== 'closed') return { afterMs: LOOK_MS.longest }
    const now = services.clock.now()
    const [next] = await run(trx, NEXT_DUE, [actionId])
    if (next?.dueAt && next.dueAt <= now) return { afterMs: YIELD_MS }
    const clockAt = row.clockAt.getTime() + aheadMs(services.clock)
    const decision = decide(flow, clockAt, { slots: 1, leadMs: 0 })
    if (decision.kind === 'wait')
      return { afterMs: decision.until === null ? YIELD_MS : decision.until - clockAt }
    const { firstAt, spacingMs } = decision
    if (spacingMs > 0) await run(trx, MOVE_FLOW, [actionId, new Date(firstAt + spacingMs), null])
    const endsAt = new Date(now.getTime() + longestMs)
    const slot = await insertSlot(services, trx, { scope: `${GUESTS_SCOPE}${actionId}`, endsAt })
    const leave = async () => {
      await slot.free()
      services.endpointChanges.announce([flowSignal('end', { id: actionId, workspaceId: row.workspaceId })])
    }
    return { place: { leave }, startsInMs: Math.max(0, firstAt - clockAt) }
  })
}
