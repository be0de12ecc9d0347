import type { Services } from '../api/services.ts'
import type { Adapter, Outcome, Send } from './adapter.ts'
import { type LaneQueue, queueLanes } from './jobs.ts'
import { type RunningLanes, startLanes } from './scheduler.ts'
import type { Slots } from './slots.ts'

/** Work that is due for longer than this has no job. */
const OVERDUE_MS = 30_000

/** The lanes of one kind of sends. */
export interface Lanes {
  readonly queue: LaneQueue
  start(services: Services, slots: Slots): RunningLanes
  /** Queues lanes whose jobs are missing: those of a workspace that arrived from another cell, or lost in a crash. */
  requeue(services: Services): Promise<void>
}

/** The lanes that an adapter serves. */
export function lanesOf<One extends Send, Result extends Outcome>(adapter: Adapter<One, Result>): Lanes {
  return {
    queue: adapter.queue,
    start: (services, slots) => startLanes(services, adapter, slots),
    async requeue(services) {
      const now = services.clock.now()
      const overdue = await adapter.overdue(services, new Date(now.getTime() - OVERDUE_MS))
      const due = overdue.map((lane) => ({ ...lane, dueAt: now }))
      await services.db.transaction().execute((trx) => queueLanes(services, trx, adapter.queue, due))
    },
  }
}
