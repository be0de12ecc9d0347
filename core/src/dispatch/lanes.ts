import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import type { Adapter, LaneKind, Outcome, Send } from './adapter.ts'
import { type LaneQueue, queueLanes } from './jobs.ts'
import { type RunningLanes, startLanes } from './scheduler.ts'
import type { Slots } from './slots.ts'

/** Work that is due for longer than this has no job. */
const OVERDUE_MS = 30_000

/** Load of one kind of sends, for metrics. */
export interface SendLoad {
  readonly kind: LaneKind
  /** Sends that are due and have not begun. */
  readonly waiting: number
  /** How long the first of them has waited. */
  readonly lagSeconds: number
}

export interface Lanes<One extends Send = Send> {
  readonly kind: LaneKind
  readonly queue: LaneQueue
  start(services: Services, slots: Slots): RunningLanes<One>
  /** Queues lanes whose jobs are missing: lost in a crash, or of a database that was restored. */
  requeue(services: Services): Promise<void>
  readLoad(services: Pick<Services, 'db' | 'clock'>): Promise<SendLoad>
  /** Queues the lanes of a workspace that arrives from another cell, in the transaction in which it arrives. */
  queueArrived(services: Pick<Services, 'enqueue' | 'clock'>, trx: Trx, workspaceId: string): Promise<void>
}

export function lanesOf<One extends Send, Result extends Outcome>(adapter: Adapter<One, Result>): Lanes<One> {
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
    kind: adapter.kind,
    queue: adapter.queue,
    start: (services, slots) => startLanes(services, adapter, slots),
    async requeue(services) {
      const dueBefore = new Date(services.clock.now().getTime() - OVERDUE_MS)
      await services.db.transaction().execute((trx) => queueNow(services, trx, { dueBefore }))
    },
    async readLoad({ db, clock }) {
      const now = clock.now()
      const { count = 0, dueAt = null } = (await adapter.waiting(db, now)) ?? {}
      const lagMs = dueAt === null ? 0 : now.getTime() - dueAt.getTime()
      return { kind: adapter.kind, waiting: count, lagSeconds: Math.max(0, lagMs / 1000) }
    },
    queueArrived: (services, trx, workspaceId) => queueNow(services, trx, { workspaceId }),
  }
}
