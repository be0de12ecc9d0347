import { z } from 'zod'

export const DUE_ATTEMPT = z.object({
  deliveryId: z.int(),
  /** The number of the attempt, from 1. */
  attempt: z.int(),
  /** Attempts of one action, and of one workspace, share slots. */
  actionId: z.string(),
  workspaceId: z.string(),
  /** Memory that the attempt will take. */
  bodyBytes: z.int(),
})
/** An attempt that is due, after parsing. */
export type DueAttempt = z.infer<typeof DUE_ATTEMPT>

/**
 * The most attempts that share a job. At this size the job's own row is a small part of the cost of each, and it is
 * still short enough to be written in one piece.
 */
export const JOB_ATTEMPTS_MAX = 16

/** Payload of a job of `deliveries.attempt`. */
export const ATTEMPT_JOB = z.object({
  attempts: z.array(DUE_ATTEMPT).min(1).max(JOB_ATTEMPTS_MAX),
})

/** Priority of jobs whose attempts yield. */
const YIELDING = -1

/** An attempt to be queued. Without `startAfter` it is due at once. */
export interface QueuedAttempt extends DueAttempt {
  readonly startAfter?: Date
  /** Whether others that are due come first, so that a backlog does not delay them; false by default. */
  readonly yields?: boolean
}

/** A job to add to `deliveries.attempt`. */
export interface AttemptJob {
  readonly payload: { attempts: DueAttempt[] }
  readonly startAfter?: Date
  readonly priority?: number
}

/**
 * Makes the jobs of attempts. Equal ones that are due at the same time share a job, up to {@link JOB_ATTEMPTS_MAX}, in
 * the order given. So a row of the queue is written, taken and deleted once for several deliveries.
 */
export function attemptJobs(attempts: readonly QueuedAttempt[]): AttemptJob[] {
  const jobs: AttemptJob[] = []
  /** The last job of each due time and priority, which may have room. */
  const open = new Map<string, AttemptJob>()
  for (const { startAfter, yields = false, ...attempt } of attempts) {
    const due = `${startAfter?.getTime()} ${yields}`
    const job = open.get(due)
    if (job !== undefined && job.payload.attempts.length < JOB_ATTEMPTS_MAX) {
      job.payload.attempts.push(attempt)
      continue
    }
    const next = {
      payload: { attempts: [attempt] },
      ...(startAfter === undefined ? {} : { startAfter }),
      ...(yields ? { priority: YIELDING } : {}),
    }
    open.set(due, next)
    jobs.push(next)
  }
  return jobs
}

/** Older versions did not name the workspace: each action counts as a workspace of its own. */
const STORED_ATTEMPT = DUE_ATTEMPT.partial({ workspaceId: true }).transform(
  ({ workspaceId, ...attempt }): DueAttempt => ({ ...attempt, workspaceId: workspaceId ?? attempt.actionId }),
)

/** Jobs of 0.1.0 are one attempt each. */
const STORED_JOB = z.union([
  z.object({ attempts: z.array(STORED_ATTEMPT).min(1) }),
  STORED_ATTEMPT.transform((attempt) => ({ attempts: [attempt] })),
])

/**
 * The attempts of a job from the queue, whichever version queued it.
 *
 * @returns undefined for data that no version has queued
 */
export function attemptsOfJob(data: unknown): readonly DueAttempt[] | undefined {
  return STORED_JOB.safeParse(data).data?.attempts
}
