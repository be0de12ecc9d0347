import type { Services } from '../api/services.ts'
import { NO_RULES } from '../transformations/index.ts'
import { finishTries } from './finishStatement.ts'
import { findOpenRuns, lockOverdue, type OpenRun } from './queries.ts'
import { openParked } from './runs.ts'
import { triesAgainAfterInterruption } from './states.ts'

/** How many overdue tries one call takes. */
const BATCH = 500

/**
 * Marks the tries whose worker died (their lease has passed without a result) and queues their runs at once
 * (CONTRACT §8, row 10). An interrupted try counts as one; after the further one that the last is allowed, the
 * run parks. An inline replay is one try: its row says `Interrupted` and that is all.
 *
 * Several processes may call it at the same time.
 *
 * @returns how many there were
 */
export async function recoverInterrupted(services: Services): Promise<number> {
  const now = services.clock.now()
  return await services.db.transaction().execute(async (trx) => {
    const overdue = await lockOverdue(trx, now, BATCH)
    if (overdue.length === 0) return 0
    const deliveryIds = overdue.flatMap(({ deliveryId }) => (deliveryId === null ? [] : [deliveryId]))
    const open = deliveryIds.length === 0 ? [] : await findOpenRuns(trx, { ids: deliveryIds })
    const runs = new Map(open.map((run) => [run.id, run]))
    const spent = (row: { deliveryId: number | null; attemptNumber: number }) =>
      row.deliveryId !== null &&
      !triesAgainAfterInterruption(row.attemptNumber, services.retryDelaysSeconds.length)

    const kept = await finishTries(
      trx,
      overdue.map((row) => ({
        endpointId: row.endpointId,
        attemptId: row.id,
        requestId: row.requestId,
        state: spent(row) ? 'DeadLetter' : 'Interrupted',
        statusCode: null,
        error: 'interrupted',
        finishedAt: now,
        durationMs: now.getTime() - row.at.getTime(),
        nextAttemptAt: row.deliveryId === null || spent(row) || !runs.has(row.deliveryId) ? null : now,
        fate: spent(row) ? 'parked' : 'again',
        sent: null,
        received: null,
        ...NO_RULES,
      })),
      now,
    )
    const again: { run: OpenRun; attemptNumber: number }[] = []
    const parked: OpenRun[] = []
    for (const row of overdue) {
      const run = row.deliveryId === null ? undefined : runs.get(row.deliveryId)
      if (run === undefined || !kept.has(row.id)) continue
      if (spent(row)) parked.push(run)
      else again.push({ run, attemptNumber: row.attemptNumber })
    }
    await openParked(services, trx, parked, 'interrupted')
    await services.enqueue(
      trx,
      'deliveries.attempt',
      again.map(({ run: { id, actionId, bodyBytes }, attemptNumber }) => ({
        payload: { deliveryId: id, attempt: attemptNumber + 1, actionId, bodyBytes },
      })),
    )
    return overdue.length
  })
}
