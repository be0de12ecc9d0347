import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import { type Job, NO_PAYLOAD, type Queue, queue } from '../platform/queues.ts'
import type { Lane } from './slots.ts'

/** A lane with work that is due at `dueAt`. */
export interface DueLane extends Lane {
  readonly dueAt: Date
}

/** A job that lanes share: see {@link sharedJob}. Times are in milliseconds. */
export interface SharedJob extends Lane {
  readonly at: number
  /** A look that began since then has seen all work of the job. */
  readonly seenSince: number
}

const LaneJob = z.object({
  laneId: z.string(),
  workspaceId: z.string(),
  /** A look that began since then, in milliseconds, has seen the work of a shared job. */
  seenSince: z.number().optional(),
})

/** A queue whose jobs each name a lane to look at. */
export type LaneQueue = Queue<z.output<typeof LaneJob>>

/** A job that is due within this time is not shared: it may be taken before the transaction of the work commits. */
const SOON_MS = 10_000
/** Shared jobs of lanes whose work is due now are this far apart. */
const STEP_MS = 5_000
/** A job that was queued is relied on if it is due at least this much later. */
const RELIED_MS = 5_000
/** A look within this time before a job has seen its work: what relies on the job had a second to commit until then. */
const SEEN_MS = RELIED_MS - 1_000
/** The most lanes whose jobs are remembered. */
const REMEMBERED_MAX = 10_000

/** Declares the queue of an adapter. A job is short: the sends that it starts go on without it. */
export function laneQueue(name: string): LaneQueue {
  return queue({
    name,
    payload: LaneJob,
    options: {
      policy: 'short',
      retryLimit: 5,
      expireInSeconds: 60,
      heartbeatSeconds: 10,
      deleteAfterSeconds: 60,
    },
    batches: 4,
    batchSize: 32,
    pollSeconds: 1,
    calls: true,
  })
}

/** Queues lanes whose jobs are missing. */
export const LANE_SWEEP = queue({
  name: 'lanes.sweep',
  payload: NO_PAYLOAD,
  options: { policy: 'short', retryLimit: 0, expireInSeconds: 60, deleteAfterSeconds: 3600 },
  cron: '* * * * *',
  // Without sends, each run would queue lanes again that no worker looks at.
  calls: true,
})

type JobServices = Pick<Services, 'enqueue' | 'clock'>

/**
 * Queues looks at lanes, in the transaction that makes their work. Lanes whose work is due much later share jobs. A job
 * that is due soon is not shared, because it may be taken before this transaction commits, and then would not see its
 * work.
 */
export async function queueLanes(
  services: JobServices,
  trx: Trx,
  queued: LaneQueue,
  lanes: readonly DueLane[],
): Promise<void> {
  const now = services.clock.now()
  const jobs = lanes.map((lane) => {
    if (lane.dueAt.getTime() >= now.getTime() + SOON_MS) return jobOf(sharedJob(lane, now))
    const job = { payload: payloadOf(lane), key: `${lane.id}:${randomUUID()}` }
    return lane.dueAt > now ? { ...job, startAfter: lane.dueAt } : job
  })
  await insert(services, trx, queued, jobs)
}

/** Queues a look at each lane, as the recovery of a signal that leads to a look sooner. */
export async function queueRecovery(
  services: JobServices,
  trx: Trx,
  queued: LaneQueue,
  lanes: readonly Lane[],
): Promise<void> {
  const dueAt = services.clock.now()
  const jobs = lanes.map((lane) => jobOf(sharedJob({ ...lane, dueAt }, dueAt)))
  await insert(services, trx, queued, jobs)
}

/**
 * The jobs of the lanes of one kind that this process has queued. A busy lane costs one insert in some seconds, however
 * often it gets work, because each job leads to a look, and each look that leaves work queues the next job.
 */
export class LaneJobs {
  readonly #queue: LaneQueue
  readonly #queuedFor = new Map<string, number>()
  readonly #lookedAt = new Map<string, number>()

  constructor(queued: LaneQueue) {
    this.#queue = queued
  }

  /** Remembers a look that has committed. */
  looked(laneId: string, begunAt: Date): void {
    if (this.#lookedAt.size >= REMEMBERED_MAX) this.#lookedAt.clear()
    this.#lookedAt.set(laneId, begunAt.getTime())
  }

  /** Whether a look of this process has done what a job is for: a timer ends before the job is taken. */
  isDone({ laneId, seenSince }: z.output<typeof LaneJob>): boolean {
    return seenSince !== undefined && (this.#lookedAt.get(laneId) ?? 0) >= seenSince
  }

  /** Jobs that the lanes still need. */
  missing(lanes: readonly DueLane[], now: Date): readonly SharedJob[] {
    const jobs = new Map<string, SharedJob>()
    for (const lane of lanes) {
      const job = sharedJob(lane, now)
      const known = this.#queuedFor.get(lane.id) ?? 0
      const isRelied = known >= now.getTime() + RELIED_MS && known <= job.at
      if (!isRelied && job.at < (jobs.get(lane.id)?.at ?? Number.POSITIVE_INFINITY)) jobs.set(lane.id, job)
    }
    return [...jobs.values()]
  }

  /** Inserts jobs. {@link haveCommitted} is to be called when the transaction has committed. */
  async insert(services: JobServices, trx: Trx, jobs: readonly SharedJob[]): Promise<void> {
    await insert(services, trx, this.#queue, jobs.map(jobOf))
  }

  /** Remembers jobs that exist now. */
  haveCommitted(jobs: readonly SharedJob[]): void {
    if (this.#queuedFor.size + jobs.length > REMEMBERED_MAX) this.#queuedFor.clear()
    for (const { id, at } of jobs) this.#queuedFor.set(id, at)
  }
}

async function insert(
  { enqueue }: JobServices,
  trx: Trx,
  queued: LaneQueue,
  jobs: readonly Job<z.output<typeof LaneJob>>[],
): Promise<void> {
  // In one order in all transactions: an equal key waits for the end of the other one.
  await enqueue(
    trx,
    queued,
    jobs.toSorted((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1)),
  )
}

const payloadOf = ({ id, workspaceId }: Lane) => ({ laneId: id, workspaceId })

/** A job of which there is one at most: for each second of work that is due later, and in some seconds of other work. */
function sharedJob({ id, workspaceId, dueAt }: DueLane, now: Date): SharedJob {
  const soonAt = now.getTime() + SOON_MS
  const isLater = dueAt.getTime() > soonAt
  const [time, stepMs] = isLater ? [dueAt.getTime(), 1000] : [soonAt, STEP_MS]
  const at = Math.ceil(time / stepMs) * stepMs
  // Work that is due later is due within the last second before.
  return { id, workspaceId, at, seenSince: at - (isLater ? stepMs : SEEN_MS) }
}

function jobOf(job: SharedJob) {
  return {
    payload: { ...payloadOf(job), seenSince: job.seenSince },
    key: `${job.id}@${job.at}`,
    startAfter: new Date(job.at),
  }
}
