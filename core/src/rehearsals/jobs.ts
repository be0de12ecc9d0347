import { sql } from 'kysely'
import { z } from 'zod'
import { type Runs, runQueues } from '../runs/index.ts'
import { ENDED_KEPT, LEASE_MS, UNFINISHED_MAX } from './bounds.ts'
import { FOR_LISTENERS } from './options.ts'

/** The jobs of replays of many requests, and their sweep. */
export const [REPLAY_RUNS, REPLAY_SWEEP] = runQueues('replays', z.object({ replayId: z.uuid() }), {
  expireInSeconds: 300,
  // A receiver that does not answer must not delay the replays of others.
  batches: 4,
  batchSize: 2,
  pollSeconds: 2,
  calls: true,
})

/** The table of replays. Listeners take the requests of theirs themselves. */
export const REPLAYS: Runs<{ replayId: string }> = {
  table: 'replays',
  queue: REPLAY_RUNS,
  payloadOf: (replayId) => ({ replayId }),
  leaseMs: LEASE_MS,
  unfinishedMax: UNFINISHED_MAX,
  refusal: `At most ${UNFINISHED_MAX} replays of a workspace may run, wait or be paused.`,
  endedKept: { of: 'workspace_id', count: ENDED_KEPT },
  isWorked: sql<boolean>`options not like ${FOR_LISTENERS}`,
}
