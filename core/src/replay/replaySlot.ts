import type { Context } from '../api/context.ts'
import { takeSlot } from '../api/slots.ts'

/** Concurrent inline replays of a workspace. */
const PARALLEL_REPLAYS = 10
/** Timeout of a replay. */
const REPLAY_SECONDS = 20

/**
 * Runs one inline replay within the workspace's limit of concurrent ones.
 *
 * @param run gets the signal that aborts its sends at the timeout
 * @throws DomainError `rate_limited` when too many run
 */
export async function inReplaySlot<Result>(
  ctx: Context,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const longestMs = REPLAY_SECONDS * 1000
  const slot = await takeSlot(ctx, {
    scope: `replay:${ctx.workspace.id}`,
    max: PARALLEL_REPLAYS,
    longestMs,
    noun: 'replays',
  })
  try {
    return await run(AbortSignal.timeout(longestMs))
  } finally {
    await slot.free()
  }
}
