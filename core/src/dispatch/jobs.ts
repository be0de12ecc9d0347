import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import { NO_PAYLOAD, type Queue, queue } from '../platform/queues.ts'
import type { SlotLane } from './slots.ts'

/** Unit of order, policy and fairness: an action, an alert channel, a subscription. Ids are unique over all kinds. */
export type Lane = SlotLane

/** A lane with work that is due at `dueAt`. */
export interface DueLane extends Lane {
  readonly dueAt: Date
}

const LaneJob = z.object({ laneId: z.string(), workspaceId: z.string() })

/** A queue whose jobs each name a lane to look at. */
export type LaneQueue = Queue<z.output<typeof LaneJob>>

/** Work that is due within this time is left to a timer of the process that knows it, besides its job. */
export const SOON_MS = 10_000

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
})

/**
 * Queues looks at lanes, in the transaction that makes their work. Lanes whose work is due much later share jobs: at
 * most one for each second. A job that is due soon is not shared, because it may be taken before this transaction
 * commits, and then would not see its work.
 */
export async function queueLanes(
  services: Pick<Services, 'enqueue' | 'clock'>,
  trx: Trx,
  queued: LaneQueue,
  lanes: readonly DueLane[],
): Promise<void> {
  const now = services.clock.now()
  const soon = new Date(now.getTime() + SOON_MS)
  const jobs = lanes.map((lane) => {
    if (lane.dueAt >= soon) return sharedJob(lane, 1000)
    const job = { payload: payloadOf(lane), key: `${lane.id}:${randomUUID()}` }
    return lane.dueAt > now ? { ...job, startAfter: lane.dueAt } : job
  })
  // In one order in all transactions: an equal key waits for the end of the other one.
  const ordered = jobs.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  await services.enqueue(trx, queued, ordered)
}

/**
 * Queues a further look at a lane whose work other transactions have made, so that it is made if this process dies. At
 * most one for each five seconds.
 */
export async function queueRecovery(
  { enqueue, clock }: Pick<Services, 'enqueue' | 'clock'>,
  trx: Trx,
  queued: LaneQueue,
  lane: DueLane,
): Promise<void> {
  const dueAt = new Date(Math.max(lane.dueAt.getTime(), clock.now().getTime() + SOON_MS))
  await enqueue(trx, queued, [sharedJob({ ...lane, dueAt }, 5000)])
}

const payloadOf = ({ id, workspaceId }: DueLane) => ({ laneId: id, workspaceId })

function sharedJob(lane: DueLane, stepMs: number) {
  const at = Math.ceil(lane.dueAt.getTime() / stepMs) * stepMs
  return { payload: payloadOf(lane), key: `${lane.id}@${at}`, startAfter: new Date(at) }
}
