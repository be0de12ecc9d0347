import { aheadMs } from '../api/services.ts'
import type { DeliveryServices } from './batchDeliveries.ts'
import type { CaptureConnection } from './captureConnection.ts'
import { type BatchResult, type CaptureOutcome, storeCaptures } from './captureStatement.ts'
import { applyConsequences, flowSignalsOf, hasConsequences, storedOf } from './consequences.ts'
import type { EvaluatedCapture } from './evaluateCapture.ts'
import { captureBatches, captureBatchSize, captureCommitSeconds } from './metrics.ts'
import { storePlainly } from './plainBatch.ts'
import { tellOfRejections } from './rejections.ts'

/**
 * The most evictions in a row from an endpoint that other processes keep overfilling, or whose cap was lowered by far. The
 * next capture continues.
 */
const EVICTION_ROUNDS_MAX = 3

/**
 * Stores a batch with its deliveries and notes in one transaction, which is committed when this returns.
 *
 * Most batches take the short way of plainBatch.ts. A batch that it cannot store is left unchanged to the general
 * statement.
 *
 * @param connection used for batches only. While this batch is stored, another may begin if `pipeline.mayFollow` is
 *   true
 * @returns the outcome of each capture, in their order
 * @throws errors of PostgreSQL; then nothing was stored, unless the connection was lost during the commit
 */
export async function storeBatch(
  services: DeliveryServices,
  connection: CaptureConnection,
  captures: readonly EvaluatedCapture[],
): Promise<readonly CaptureOutcome[]> {
  const endTimer = captureCommitSeconds.startTimer()
  const { way, ids } = await storePlainly(services, connection, captures, aheadMs(services.clock))
  captureBatches.inc({ way })
  const outcomes =
    way !== 'general'
      ? captures.map((capture) =>
          capture.settings.script === null ? STORED : { ...STORED, id: ids.get(capture) ?? null },
        )
      : await connection.pipeline.exclusively(() => storeGenerally(services, connection, captures))
  endTimer()
  captureBatchSize.observe(captures.length)
  const signalsOf = way === 'general' ? flowSignalsOf : () => NO_SIGNALS
  services.endpointChanges.announce(
    captures.flatMap((capture, index) =>
      outcomes[index]?.state === 'stored' ? [capture.settings.endpointId, ...signalsOf(capture)] : [],
    ),
  )
  return outcomes
}

/** A plain batch gives its own, for the deliveries that wait. */
const NO_SIGNALS: readonly string[] = []

const STORED: CaptureOutcome = { state: 'stored', id: null, duplicateOf: null }

/** Runs the general statement, in a transaction with the deliveries of its captures if there are any. */
async function storeGenerally(
  services: DeliveryServices,
  { db }: CaptureConnection,
  captures: readonly EvaluatedCapture[],
): Promise<readonly CaptureOutcome[]> {
  const store = () =>
    storeCaptures(db, captures, {
      endpointIds: [...new Set(captures.map((capture) => capture.settings.endpointId))],
      plans: services.plans,
      aheadMs: aheadMs(services.clock),
    })
  const result = captures.some(hasConsequences)
    ? await db.transaction().execute(async (trx) => {
        const stored = await store()
        await applyConsequences(services, trx, storedOf(captures, stored.outcomes))
        return stored
      })
    : await store()
  // The next batches evict the oldest.
  for (const { settings } of captures)
    if (result.full.includes(settings.endpointId) && !settings.learned.isFull)
      Object.assign(settings.learned, { isFull: true, generalUntil: 0 })
  await evictOverfull(services, db, result)
  if (result.rejecting.length > 0) void tellOfRejections(services, result.rejecting)
  return result.outcomes
}

/** Evicts from overfull endpoints. The captures are committed by now, so an error is only logged. */
async function evictOverfull(
  services: DeliveryServices,
  db: CaptureConnection['db'],
  result: BatchResult,
): Promise<void> {
  let { overfull } = result
  for (let round = 0; overfull.length > 0 && round < EVICTION_ROUNDS_MAX; round += 1) {
    const options = { endpointIds: overfull, plans: services.plans, aheadMs: aheadMs(services.clock) }
    try {
      ;({ overfull } = await storeCaptures(db, [], options))
    } catch (error) {
      services.log.warn({ err: error }, 'endpoints hold more than their plan stores until their next capture')
      return
    }
  }
}
