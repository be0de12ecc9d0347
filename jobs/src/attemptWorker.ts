import type { Services } from '@creel/core'
import {
  attemptsOfJob,
  type Dispatcher,
  DUE_ATTEMPTS,
  type DueAttempt,
  postponeAttempts,
} from '@creel/core/deliveries'
import type { Job, PgBoss } from 'pg-boss'

/**
 * Jobs are fetched in batches, to share the query. Several batches run at once, so that one that waits for slots does
 * not block the others. New jobs wake the workers; retries that become due are found by polling.
 */
const FETCH = {
  batchSize: 100,
  localConcurrency: 4,
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 1,
  // No notification is sent when a retry becomes due.
  notifyPollingIntervalSeconds: 1,
} as const

/** Attempts that the dispatcher gets at once, which share a claim. */
const BATCH = 200

/**
 * Passes due attempts to the dispatcher until the queue stops. When `stopping` aborts, attempts that have not begun are
 * queued again.
 */
export async function startAttemptWorker(
  boss: PgBoss,
  services: Services,
  dispatcher: Dispatcher,
  stopping: AbortSignal,
): Promise<void> {
  await boss.work<unknown>(DUE_ATTEMPTS.name, FETCH, async (jobs) => {
    const due = jobs.flatMap((job) => attemptsOf(services, job))
    for (let begun = 0; begun < due.length; begun += BATCH) {
      if (stopping.aborted) {
        await postponeAttempts(
          services,
          due.slice(begun).map((one) => ({ due: one, afterMs: 0 })),
        )
        break
      }
      await dispatcher.begin(due.slice(begun, begun + BATCH))
    }
    // Finished jobs are never read, and deleting a row costs a quarter of updating it.
    await boss.deleteJob(
      DUE_ATTEMPTS.name,
      jobs.map(({ id }) => id),
    )
  })
}

function attemptsOf({ log }: Pick<Services, 'log'>, { id, data }: Job<unknown>): readonly DueAttempt[] {
  const attempts = attemptsOfJob(data)
  if (attempts === undefined) log.error({ job: id }, 'a job without attempts was dropped')
  return attempts ?? []
}
