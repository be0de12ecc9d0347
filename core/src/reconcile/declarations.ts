import { z } from 'zod'
import { counterBy } from '../platform/metrics/index.ts'
import { sealedTable } from '../platform/secrets/index.ts'
import { HOUR_MS } from '../platform/time/index.ts'
import { type Runs, runQueues } from '../runs/index.ts'

/** Pages of a sender's list that one run reads. */
export const PAGES_MAX = 250

/** Events of a page, of either sender. */
export const PAGE_EVENTS = 100

/** Longest page that is read, in bytes. A longer one is requested again with fewer events. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024

/** Longest time from the start of a run to its end, in milliseconds. */
export const RUN_MS_MAX = 2 * HOUR_MS

/** Runs of a workspace that run at once; the others wait. */
export const RUNNING_MAX = 2

/** Runs of a workspace that run or wait. */
export const UNFINISHED_MAX = 20

/** Ended runs that are kept for each endpoint. */
const ENDED_KEPT = 50

/** Events younger than this, in milliseconds, are left out: they may still be on their way. */
export const SETTLING_MS = 60_000

/** How long events that are sent again may take to arrive, in milliseconds. */
export const ARRIVAL_MS = 60_000

/** Time for which a job works on a run before it makes room for others, in milliseconds. */
export const SLICE_MS = 5_000

/** Lease of a run, in milliseconds: longer than any step. When it ends, the run has lost its process. */
export const LEASE_MS = 60_000

/** A run without a job for this time has lost it, in milliseconds. */
export const LOST_AFTER_MS = 60_000

/** Calls to the sender in a row that may fail before the run does. */
export const FAILURES_MAX = 5

/** Least wait of a rate limit, in milliseconds. */
export const WAIT_MS_MIN = 1_000

/** Pause before a run looks again for events that it waits for, in milliseconds. */
export const PAUSE_MS = 1_000

/** Types of missing events that a run names. */
export const MISSING_TYPES_MAX = 20

export const reconciliations = counterBy('state', ['done', 'failed'], {
  name: 'creel_reconciliations_total',
  help: 'Reconciliations that ended, by how',
})

/**
 * Events in reconciliations that ended. `result`: `missing`, and of these `redelivered`, `captured`, `refused` and
 * `outstanding`.
 */
export const reconciledEvents = counterBy(
  'result',
  ['missing', 'redelivered', 'captured', 'refused', 'outstanding'],
  {
    name: 'creel_reconciled_events_total',
    help: 'Events that reconciliations found missing, and what became of them',
  },
)

/** Secrets that the noun stores. */
export const SEALED_RECONCILIATIONS = sealedTable('reconciliations', ['credentials'])

/** The jobs of reconciliations, and their sweep. A job queues the next one in the transaction of its last step. */
export const [RECONCILIATION_RUNS, RECONCILIATION_SWEEP] = runQueues(
  'reconcile',
  z.object({ reconciliationId: z.uuid() }),
  {
    expireInSeconds: 180,
    // A sender that does not answer takes its 15 s: it must not keep the others waiting. Each holds a page in memory,
    // and polls.
    batches: 4,
    // More than one: a backlog of batches is worked off without a pause.
    batchSize: 2,
    pollSeconds: 5,
    calls: true,
  },
)

export const RECONCILIATIONS: Runs<{ reconciliationId: string }> = {
  table: 'reconciliations',
  queue: RECONCILIATION_RUNS,
  payloadOf: (reconciliationId) => ({ reconciliationId }),
  unfinishedMax: UNFINISHED_MAX,
  refusal: `At most ${UNFINISHED_MAX} reconciliations of a workspace may run or wait.`,
  endedKept: { of: 'endpoint_id', count: ENDED_KEPT },
}
