import type { Services } from '../api/services.ts'
import { aheadMs } from '../api/services.ts'
import { captureBatches, captureBatchSize, captureCommitSeconds } from '../platform/metrics/index.ts'
import type { DeliveryServices } from './batchDeliveries.ts'
import type { CaptureConnection } from './captureConnection.ts'
import { type BatchResult, type CaptureOutcome, storeCaptures } from './captureStatement.ts'
import { applyConsequences, flowSignalsOf, hasConsequences } from './consequences.ts'
import type { EvaluatedCapture } from './evaluateCapture.ts'
import type { PlainBatches } from './plainBatch.ts'
import { tellOfRejections } from './rejections.ts'

/** How often an endpoint that other processes keep overfilling is evicted from; the next capture goes on. */
const EVICTION_ROUNDS_MAX = 3

/** What storing batches needs of the process. */
export type BatchServices = DeliveryServices & Pick<Services, 'endpointChanges'>

/**
 * Stores a batch and what it sets in motion, in one transaction: committed when this returns.
 *
 * Most batches take the short way of plainBatch.ts. What that cannot decide, it leaves untouched to the general statement.
 *
 * @param connection used for batches only; while this one is stored, another may begin where `pipeline.mayFollow` says so
 * @param plain what was learned of the endpoints from earlier batches
 * @returns what became of each capture, in their order
 * @throws what Postgres said; then nothing was stored, unless the connection was lost while it committed
 */
export async function storeBatch(
  services: BatchServices,
  connection: CaptureConnection,
  plain: PlainBatches,
  captures: readonly EvaluatedCapture[],
): Promise<readonly CaptureOutcome[]> {
  const endTimer = captureCommitSeconds.startTimer()
  const way = await plain.store(services, connection, captures, aheadMs(services.clock))
  captureBatches.inc({ way })
  const outcomes =
    way !== 'general'
      ? captures.map(() => STORED)
      : await connection.pipeline.exclusively(() => storeGenerally(services, connection, plain, captures))
  endTimer()
  captureBatchSize.observe(captures.length)
  services.endpointChanges.announce(
    captures.flatMap((capture, index) =>
      outcomes[index]?.state === 'stored' ? [capture.settings.endpointId, ...flowSignalsOf(capture)] : [],
    ),
  )
  return outcomes
}

const STORED: CaptureOutcome = { state: 'stored', id: null }

/** The general statement, in a transaction with what the captures set in motion; by itself it is its own. */
async function storeGenerally(
  services: BatchServices,
  { client, db }: CaptureConnection,
  plain: PlainBatches,
  captures: readonly EvaluatedCapture[],
): Promise<readonly CaptureOutcome[]> {
  const store = () =>
    storeCaptures(client, captures, {
      endpointIds: [...new Set(captures.map((capture) => capture.settings.endpointId))],
      plans: services.plans,
      aheadMs: aheadMs(services.clock),
    })
  const result = captures.some(hasConsequences)
    ? await db.transaction().execute(async (trx) => {
        const stored = await store()
        await applyConsequences(services, trx, storedOf(captures, stored))
        return stored
      })
    : await store()
  for (const { settings } of captures) {
    if (result.full.includes(settings.endpointId)) plain.isFull(settings)
  }
  await evictOverfull(services, client, result)
  if (result.rejecting.length > 0) void tellOfRejections(services, result.rejecting)
  return result.outcomes
}

function storedOf(captures: readonly EvaluatedCapture[], { outcomes }: BatchResult) {
  return captures.flatMap((capture, index) => {
    const outcome = outcomes[index]
    return outcome?.state === 'stored' && outcome.id !== null ? [{ capture, requestId: outcome.id }] : []
  })
}

/** The captures are committed by now, so a failure here is not theirs. */
async function evictOverfull(
  services: BatchServices,
  client: CaptureConnection['client'],
  result: BatchResult,
): Promise<void> {
  let { overfull } = result
  for (let round = 0; overfull.length > 0 && round < EVICTION_ROUNDS_MAX; round += 1) {
    const options = { endpointIds: overfull, plans: services.plans, aheadMs: aheadMs(services.clock) }
    try {
      ;({ overfull } = await storeCaptures(client, [], options))
    } catch (error) {
      services.log.warn({ err: error }, 'endpoints hold more than their plan stores until their next capture')
      return
    }
  }
}
