import type { Adapter, Ended } from '../../dispatch/index.ts'
import { run } from '../../platform/db/index.ts'
import { DELIVERY_LANES } from '../jobs.ts'
import {
  type Concluded,
  conclude,
  type PauseGone,
  recordConcluded,
  recordPlainSuccesses,
  tellRecorded,
} from '../record.ts'
import { sendAttempt } from '../send.ts'
import { isOfGoverned } from './outcomes.ts'
import { type FlowSend, lookAtFlow, lookAtFlows } from './pick.ts'
import { LANES_OF_WORKSPACE, OVERDUE_LANES, WAITING } from './statements.ts'
import { postponeFirst, reserveStart } from './upkeep.ts'
import { flowSignalOf } from './wake.ts'

/** Delay until a delivery that could not be begun is looked at again. */
const UNREADABLE_MS = 60_000

interface FlowResult extends Concluded {
  readonly answered: boolean | null
  readonly durationMs: number
}

const freesLane = (send: FlowSend): boolean => send.isBound || isOfGoverned(send)

const concludedOf = (ended: readonly Ended<FlowSend, FlowResult>[]) => ended.map(({ outcome }) => outcome)

/**
 * Deliveries, which wait in the lane of their action. Leases of attempts are ended by `deliveries.sweep`, which queues
 * the lane.
 *
 * @param pauseGone pauses the actions that ask for it when their receiver answers 410
 */
export function flowSends(pauseGone: PauseGone): Adapter<FlowSend, FlowResult> {
  return {
    kind: 'delivery',
    queue: DELIVERY_LANES,
    look: lookAtFlow,
    lookTogether: lookAtFlows,
    idsOf: ({ attempt: { id, endpoint, requestId } }) => ({
      endpointId: endpoint.id,
      requestId,
      attemptId: id,
    }),
    postpone: (services, { id }) => postponeFirst(services, id, UNREADABLE_MS),
    reserve: (services, { id }, place) => reserveStart(services, id, place),

    async send(services, { attempt }, signal, ready) {
      const result = await sendAttempt(services, attempt, signal, ready)
      if (signal.aborted && result.received === null) return null
      return {
        ...conclude(services, { attempt, result }),
        answered: result.sent === null ? null : result.received !== null,
        durationMs: result.durationMs,
      }
    },

    async record(services, trx, ended) {
      await recordConcluded(services, trx, concludedOf(ended), pauseGone)
      const now = services.clock.now()
      return ended.flatMap(({ lane, send, outcome: { outcome } }) => {
        const dueAt = freesLane(send) ? now : outcome.nextAttemptAt
        return dueAt === null ? [] : [{ ...lane, dueAt }]
      })
    },

    frees: ({ send }) => freesLane(send),

    recordAlone: (services, ended) => recordPlainSuccesses(services, concludedOf(ended)),
    recorded(services, ended) {
      const freeing = ended.filter(({ send }) => freesLane(send))
      tellRecorded(services, concludedOf(ended), concludedOf(freeing))
    },

    find: async (db, which) =>
      'dueBefore' in which
        ? await run(db, OVERDUE_LANES, [which.dueBefore])
        : await run(db, LANES_OF_WORKSPACE, [which.workspaceId]),

    waiting: async (db, now) => (await run(db, WAITING, [now]))[0],
    heard: flowSignalOf,
  }
}
