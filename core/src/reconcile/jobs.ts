import { z } from 'zod'
import { type Runs, runQueues } from '../runs/index.ts'
import { ENDED_KEPT, LEASE_MS, UNFINISHED_MAX } from './bounds.ts'

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
  leaseMs: LEASE_MS,
  unfinishedMax: UNFINISHED_MAX,
  refusal: `At most ${UNFINISHED_MAX} reconciliations of a workspace may run or wait.`,
  endedKept: { of: 'endpoint_id', count: ENDED_KEPT },
}
