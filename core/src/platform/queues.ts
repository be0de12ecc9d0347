import { z } from 'zod'
import type { Trx } from './db/index.ts'

/**
 * A queue of background jobs. Each noun declares its own in its `jobs.ts`; `core/src/background.ts` lists them with
 * their work. The names of `options` are pg-boss's.
 */
export interface Queue<Payload = unknown> {
  /** Never changes: jobs of earlier versions are stored under it. */
  readonly name: string
  readonly payload: z.ZodType<Payload>
  readonly options: {
    /** `singleton`: at most one queued and one running. */
    readonly policy?: 'standard' | 'short' | 'singleton' | 'stately'
    /** Retries of a *crashed* job. An expected failure is a result, not an exception. */
    readonly retryLimit: number
    /** Seconds after which a job that has not ended counts as crashed. */
    readonly expireInSeconds?: number
    readonly heartbeatSeconds?: number
    /** Its own table, so that a busy queue does not slow the others down. */
    readonly partition?: boolean
    /** Wakes workers through LISTEN/NOTIFY; without it they poll. */
    readonly notify?: boolean
    /** Seconds for which an ended job is kept; a week by default. */
    readonly deleteAfterSeconds?: number
  }
  /** Batches at once in a process. With several, a slow one blocks no other, and all but one poll seldom. Default 1. */
  readonly batches?: number
  /** Jobs of a batch, which ends with its slowest. Default 8. */
  readonly batchSize?: number
  /** Interval of polling for jobs that become due, in seconds. Default 2, or 15 with a cron line only. */
  readonly pollSeconds?: number
  /** Cron line, in UTC, for scheduled jobs. */
  readonly cron?: string
  /**
   * Seconds after which the next run is due. Each run queues the next one before it works, so that a worker that dies
   * costs one run and not the chain. `policy: 'short'` limits it to one chain; the cron line restarts a broken one.
   */
  readonly everySeconds?: number
  /** Whether its jobs call other servers. They stay queued in an installation that sends nothing. Default false. */
  readonly calls?: boolean
}

/** The payload of jobs that need none. */
export const NO_PAYLOAD = z.unknown()

export function queue<Payload>(declared: Queue<Payload>): Queue<Payload> {
  return declared
}

/**
 * A queue of runs by a cron line, one at a time, each at most as long as given. The next run makes up for one that failed.
 * A run whose process died, or whose end could not be written, blocks the others only until its heartbeat is missed.
 */
export const sweepQueue = (name: string, expireInSeconds: number, cron = '* * * * *'): Queue =>
  queue({
    name,
    payload: NO_PAYLOAD,
    options: {
      policy: 'singleton',
      retryLimit: 0,
      expireInSeconds,
      heartbeatSeconds: 60,
      deleteAfterSeconds: 3600,
    },
    cron,
  })

/** A queue of runs by a cron line, or one after the other, of which one waits at most. A run that failed is not repeated. */
export const shortQueue = (
  name: string,
  expireInSeconds: number,
  times: Pick<Queue, 'pollSeconds' | 'everySeconds'> = {},
): Queue =>
  queue({
    name,
    payload: NO_PAYLOAD,
    options: { policy: 'short', retryLimit: 0, expireInSeconds, deleteAfterSeconds: 60 },
    cron: '* * * * *',
    ...times,
  })

/**
 * For `shortQueue`: a run about every 2 s. The next run is due a second after the last one began, and a worker polls once
 * a second.
 */
export const EACH_2_SECONDS = { pollSeconds: 1, everySeconds: 1 } as const

/** A job to add. Without `startAfter` it runs as soon as a worker is free. */
export interface Job<Payload> {
  readonly payload: Payload
  readonly startAfter?: Date
  /** Jobs that are due come in the order of this number, highest first; 0 by default. */
  readonly priority?: number
  /** In a queue with the policy `short`: at most one job with an equal key waits. A further one is dropped. */
  readonly key?: string
}

/** Adds jobs in the caller's transaction: they exist if and only if it commits. */
export type Enqueue = <Payload extends object>(
  trx: Trx,
  queue: Queue<Payload>,
  jobs: readonly Job<Payload>[],
) => Promise<void>
