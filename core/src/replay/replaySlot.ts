import type { ActionRow } from '../actions/index.ts'
import type { Context } from '../api/context.ts'
import { takeSlot } from '../api/slots.ts'
import { storedPolicy } from '../deliveries/index.ts'

/** Concurrent inline replays of a workspace. */
const PARALLEL_REPLAYS = 10
/** A replay answers within this time, unless an action of it has a longer time limit. */
const REPLAY_SECONDS = 20
/** Between the time limit of a send and that of its replay. */
const BESIDES_SECONDS = 5

/**
 * Runs one inline replay within the workspace's limit of concurrent ones.
 *
 * @param actions that it goes through
 * @param run gets the signal that aborts what it sends when its time is over
 * @throws DomainError `rate_limited` when too many run
 */
export async function inReplaySlot<Result>(
  ctx: Context,
  actions: readonly Pick<ActionRow, 'deliveryPolicy'>[],
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const limits = actions.map(({ deliveryPolicy }) => storedPolicy(deliveryPolicy).timeoutSeconds ?? 0)
  const longestMs = Math.max(REPLAY_SECONDS, Math.max(0, ...limits) + BESIDES_SECONDS) * 1000
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
