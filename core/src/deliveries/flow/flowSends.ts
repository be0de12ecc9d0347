import type { Adapter, Ended } from '../../dispatch/index.ts'
import { run } from '../../platform/db/index.ts'
import {
  type Concluded,
  conclude,
  type PauseGone,
  recordConcluded,
  recordPlainSuccesses,
  tellRecorded,
} from '../record.ts'
import { sendAttempt } from '../send.ts'
import { DELIVERY_LANES } from './jobs.ts'
import { type FlowSend, lookAtFlow } from './pick.ts'
import { flowSignalOf } from './signals.ts'
import { LANES_OF_WORKSPACE, OVERDUE_LANES } from './statements.ts'
import { postponeFirst, reserveStart } from './upkeep.ts'

/** Delay until a delivery that could not be begun is looked at again. */
const UNREADABLE_MS = 60_000

interface FlowResult extends Concluded {
  readonly answered: boolean | null
  readonly durationMs: number
}

const concludedOf = (ended: readonly Ended<FlowSend, FlowResult>[]) => ended.map(({ outcome }) => outcome)

/**
 * Deliveries of governed actions, which wait in the flow of their action. Leases of attempts are ended by
 * `deliveries.sweep`, which queues the lane.
 *
 * @param pauseGone pauses the actions that ask for it when their receiver answers 410
 */
export function flowSends(pauseGone: PauseGone): Adapter<FlowSend, FlowResult> {
  return {
    kind: 'delivery',
    queue: DELIVERY_LANES,
    look: lookAtFlow,
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
      const dueAt = services.clock.now()
      return ended.map(({ lane }) => ({ ...lane, dueAt }))
    },

    recordAlone: (services, ended) => recordPlainSuccesses(services, concludedOf(ended)),
    recorded: (services, ended) => tellRecorded(services, concludedOf(ended)),

    find: async (db, which) =>
      'dueBefore' in which
        ? await run(db, OVERDUE_LANES, [which.dueBefore])
        : await run(db, LANES_OF_WORKSPACE, [which.workspaceId]),

    heard: flowSignalOf,
  }
}
