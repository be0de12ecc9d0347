import type { Services } from '../api/services.ts'
import { captureBatchSize, captureCommitSeconds } from '../platform/metrics/index.ts'
import type { CaptureConnection } from './captureConnection.ts'
import { type BatchResult, type CaptureOutcome, storeCaptures } from './captureStatement.ts'
import { applyConsequences, hasConsequences } from './consequences.ts'
import type { EvaluatedCapture } from './evaluateCapture.ts'
import { raiseRejections } from './rejections.ts'

/** How often an endpoint that other processes keep overfilling is evicted from; the next capture goes on. */
const EVICTION_ROUNDS_MAX = 3

type BatchServices = Pick<Services, 'db' | 'plans' | 'clock' | 'enqueue' | 'log'>

/**
 * Stores a batch and what it sets in motion, in one transaction: committed when this returns.
 *
 * A batch without consequences is a single statement, which is its own transaction: one round trip.
 *
 * @param connection not used for anything else meanwhile
 * @returns what became of each capture, in their order
 * @throws what Postgres said; then nothing was stored, unless the connection was lost while it committed
 */
export async function storeBatch(
  services: BatchServices,
  { client, db }: CaptureConnection,
  captures: readonly EvaluatedCapture[],
): Promise<readonly CaptureOutcome[]> {
  const store = () =>
    storeCaptures(client, captures, {
      endpointIds: [...new Set(captures.map((capture) => capture.settings.endpointId))],
      plans: services.plans,
      now: services.clock.now(),
    })
  const endTimer = captureCommitSeconds.startTimer()
  const result = captures.some(hasConsequences)
    ? await db.transaction().execute(async (trx) => {
        const stored = await store()
        await applyConsequences(services, trx, storedOf(captures, stored.outcomes))
        return stored
      })
    : await store()
  endTimer()
  captureBatchSize.observe(captures.length)
  await evictOverfull(services, client, result)
  if (result.rejecting.length > 0) void tellOfRejections(services, result.rejecting)
  return result.outcomes
}

/** Nobody waits for it, and what fails now is reported at the next rejection. */
async function tellOfRejections(services: BatchServices, endpointIds: readonly string[]): Promise<void> {
  try {
    await raiseRejections(services, endpointIds)
  } catch (error) {
    services.log.warn({ err: error }, 'rejected captures could not be told of')
  }
}

function storedOf(captures: readonly EvaluatedCapture[], outcomes: readonly CaptureOutcome[]) {
  return captures.flatMap((capture, index) => {
    const outcome = outcomes[index]
    return outcome?.state === 'stored' ? [{ capture, requestId: outcome.id }] : []
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
    const options = { endpointIds: overfull, plans: services.plans, now: services.clock.now() }
    try {
      ;({ overfull } = await storeCaptures(client, [], options))
    } catch (error) {
      services.log.warn({ err: error }, 'endpoints hold more than their plan stores until their next capture')
      return
    }
  }
}
