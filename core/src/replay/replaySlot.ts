import type { Context } from '../api/context.ts'
import { takeSlot } from '../api/slots.ts'

/** Inline replays of a workspace at once. */
const PARALLEL_REPLAYS = 10
/** A replay answers within this time. */
const REPLAY_SECONDS = 20

/**
 * Runs one inline replay in the workspace's share of them.
 *
 * @param run gets the signal that aborts what it sends when its time is over
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
