import type { ActionRow } from '../actions/index.ts'
import type { Context } from '../api/context.ts'
import { DomainError, validationFailed } from '../api/errors.ts'
import { takeSlot } from '../api/slots.ts'
import { storedPolicy } from '../deliveries/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { inSlices, Turns } from '../platform/turns/index.ts'

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
 * @param run calls its argument when it begins to send; the signal aborts what it sends when its time is over
 * @param evaluationSeconds time that it may take before it sends
 * @throws DomainError `rate_limited` when too many run
 */
export async function inReplaySlot<Result>(
  ctx: Context,
  actions: readonly Pick<ActionRow, 'deliveryPolicy'>[],
  run: (beginSends: () => AbortSignal) => Promise<Result>,
  evaluationSeconds = 0,
): Promise<Result> {
  const limits = actions.map(({ deliveryPolicy }) => storedPolicy(deliveryPolicy).timeoutSeconds ?? 0)
  const longestMs = Math.max(REPLAY_SECONDS, Math.max(0, ...limits) + BESIDES_SECONDS) * 1000
  const slot = await takeSlot(ctx, {
    scope: `replay:${ctx.workspace.id}`,
    max: PARALLEL_REPLAYS,
    longestMs: longestMs + evaluationSeconds * 1000,
    noun: 'replays',
  })
  try {
    return await run(() => AbortSignal.timeout(longestMs))
  } finally {
    // The slot ends by itself, and what was sent is not to be sent again.
    await slot.free().catch((err) => ctx.log.warn({ err }, 'the slot of a replay was not freed'))
  }
}

/** Evaluations of conditions for replays: one of a workspace at a time, in turn, in slices of the event loop's time. */
const evaluations = new Turns({ atOnce: 1 })

/** Time limit of evaluations for one replay. */
export interface EvaluationLimit {
  readonly seconds: number
  /** Aborted when the time is over. */
  readonly isOver: AbortSignal
  /** The input that can be changed so that less is evaluated. */
  readonly mend: Pick<InputIssue, 'path' | 'code'>
  /** Milliseconds that were not spent waiting for other replays. */
  workedMs: number
}

/** Starts the time of a limit. */
export function evaluationLimit(seconds: number, mend: EvaluationLimit['mend']): EvaluationLimit {
  return { seconds, isOver: AbortSignal.timeout(seconds * 1000), mend, workedMs: 0 }
}

/**
 * Evaluates conditions for a replay in the turn of its workspace. Nothing is sent or stored before: conditions over a
 * long body may take any time.
 *
 * @param pieces yields between short steps
 * @throws DomainError when the time is over: `validation_failed` since the same call would take as long again, or
 *   `unavailable` if most of it was spent waiting; an `AbortError` when the caller hangs up
 */
export async function evaluate<Result>(
  { workspace, signal: hangUp }: Pick<Context, 'workspace' | 'signal'>,
  pieces: Generator<void, Result>,
  limit: EvaluationLimit,
): Promise<Result> {
  const { seconds, isOver, mend } = limit
  const signal = AbortSignal.any([hangUp, isOver])
  const work = async () => {
    const begunAt = performance.now()
    try {
      return await inSlices(pieces, signal)
    } finally {
      limit.workedMs += performance.now() - begunAt
    }
  }
  try {
    return await evaluations.run(workspace.id, work, { signal })
  } catch (error) {
    if (!isOver.aborted || hangUp.aborted) throw error
    if (limit.workedMs < seconds * 500) {
      const detail = `The conditions of other replays took over ${seconds} s. Try again later.`
      throw new DomainError('unavailable', detail, { retryAfterSeconds: seconds })
    }
    const detail = `The conditions of the actions took over ${seconds} s. Replay fewer requests at once, or through one action.`
    throw validationFailed([{ ...mend, detail }])
  }
}
