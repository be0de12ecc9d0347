import { attemptsOfJob, type DueAttempt, type Services } from '@creel/core'
import { postponeAttempts } from '@creel/core/deliveries'
import type { Job, PgBoss } from 'pg-boss'
import type { Dispatcher } from './dispatcher.ts'

/**
 * Batches of jobs: enough to share a fetch, several so that one that waits for slots stops nobody. New jobs wake
 * the workers; a retry becomes due without a word, and is found by the poll.
 */
const FETCH = {
  batchSize: 100,
  localConcurrency: 4,
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 1,
  // A retry that falls due is announced by nobody.
  notifyPollingIntervalSeconds: 1,
} as const

/** Attempts that are given to the dispatcher at once: enough to share a claim. */
const BATCH = 200

/** Gives due attempts to the dispatcher until the queue is told to stop, or `stopping` says so: then what has not begun is queued anew. */
export async function startAttemptWorker(
  boss: PgBoss,
  services: Services,
  dispatcher: Dispatcher,
  stopping: AbortSignal,
): Promise<void> {
  await boss.work<unknown>('deliveries.attempt', FETCH, async (jobs) => {
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
    // Nobody asks for those that have ended, and to delete a row costs a quarter of what it costs to change one.
    await boss.deleteJob(
      'deliveries.attempt',
      jobs.map(({ id }) => id),
    )
  })
}

function attemptsOf({ log }: Pick<Services, 'log'>, { id, data }: Job<unknown>): readonly DueAttempt[] {
  const attempts = attemptsOfJob(data)
  if (attempts === undefined) log.error({ job: id }, 'a job without attempts was dropped')
  return attempts ?? []
}
