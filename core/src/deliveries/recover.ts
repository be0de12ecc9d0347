import type { Services } from '../services.ts'
import {
  announceDeliveries,
  findOpenRuns,
  finishAttempts,
  lockOverdue,
  type OpenRun,
  parkDeliveries,
  rescheduleDeliveries,
} from './queries.ts'
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
      row.deliveryId !== null && !triesAgainAfterInterruption(row.attemptNumber)

    await finishAttempts(
      trx,
      overdue.map((row) => ({
        endpointId: row.endpointId,
        id: row.id,
        state: spent(row) ? 'DeadLetter' : 'Interrupted',
        statusCode: null,
        error: 'interrupted',
        finishedAt: now,
        durationMs: now.getTime() - row.at.getTime(),
        nextAttemptAt: row.deliveryId === null || spent(row) || !runs.has(row.deliveryId) ? null : now,
        transformed: false,
        transformationVersion: null,
        transformNote: null,
      })),
    )

    const again: { run: OpenRun; attemptNumber: number }[] = []
    const parked: { run: OpenRun; attemptNumber: number }[] = []
    for (const row of overdue) {
      const run = row.deliveryId === null ? undefined : runs.get(row.deliveryId)
      if (run !== undefined) (spent(row) ? parked : again).push({ run, attemptNumber: row.attemptNumber })
    }
    await parkDeliveries(
      trx,
      parked.map(({ run, attemptNumber }) => ({ deliveryId: run.id, attemptNumber })),
      now,
    )
    await openParked(
      services,
      trx,
      parked.map(({ run }) => run),
      'interrupted',
    )
    await rescheduleDeliveries(
      trx,
      again.map(({ run, attemptNumber }) => ({ deliveryId: run.id, attemptNumber, at: now })),
    )
    await services.enqueue(
      trx,
      'deliveries.attempt',
      again.map(({ run: { id, actionId, bodyBytes }, attemptNumber }) => ({
        payload: { deliveryId: id, attempt: attemptNumber + 1, actionId, bodyBytes },
      })),
    )
    await announceDeliveries(
      trx,
      overdue.map(({ endpointId }) => endpointId),
    )
    return overdue.length
  })
}
