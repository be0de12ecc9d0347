import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import type { Adapter, Outcome, Send } from './adapter.ts'
import { type LaneQueue, queueLanes } from './jobs.ts'
import { type RunningLanes, startLanes } from './scheduler.ts'
import type { Slots } from './slots.ts'

/** Work that is due for longer than this has no job. */
const OVERDUE_MS = 30_000

export interface Lanes {
  readonly queue: LaneQueue
  start(services: Services, slots: Slots): RunningLanes
  /** Queues lanes whose jobs are missing: lost in a crash, or of a database that was restored. */
  requeue(services: Services): Promise<void>
  /** Queues the lanes of a workspace that arrives from another cell, in the transaction in which it arrives. */
  queueArrived(services: Pick<Services, 'enqueue' | 'clock'>, trx: Trx, workspaceId: string): Promise<void>
}

export function lanesOf<One extends Send, Result extends Outcome>(adapter: Adapter<One, Result>): Lanes {
  const queueNow = async (
    services: Pick<Services, 'enqueue' | 'clock'>,
    trx: Trx,
    which: Parameters<typeof adapter.find>[1],
  ) => {
    const dueAt = services.clock.now()
    const found = await adapter.find(trx, which)
    await queueLanes(
      services,
      trx,
      adapter.queue,
      found.map((lane) => ({ ...lane, dueAt })),
    )
  }
  return {
    queue: adapter.queue,
    start: (services, slots) => startLanes(services, adapter, slots),
    async requeue(services) {
      const dueBefore = new Date(services.clock.now().getTime() - OVERDUE_MS)
      await services.db.transaction().execute((trx) => queueNow(services, trx, { dueBefore }))
    },
    queueArrived: (services, trx, workspaceId) => queueNow(services, trx, { workspaceId }),
  }
}
