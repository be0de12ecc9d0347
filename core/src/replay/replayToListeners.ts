import type { Context } from '../api/context.ts'
import { askListeners, countListeners } from '../listeners/index.ts'

/**
 * Asks every connected listener of an endpoint to send a request again. The listeners report the results.
 *
 * @returns the answer of a replay: `Skipped`, without asking, if no listener is connected
 */
export async function replayToListeners(ctx: Context, endpointId: string, requestId: number) {
  const listenerCount = await countListeners(ctx, endpointId)
  if (listenerCount > 0) await askListeners(ctx.db, { endpointId, requestId, now: ctx.clock.now() })
  const state = listenerCount > 0 ? ('Pending' as const) : ('Skipped' as const)
  return { requestId, state, attemptId: null, statusCode: null, error: null, outcomes: [], listenerCount }
}
