import type { Context } from '../api/context.ts'
import { requireStays } from '../api/seal.ts'
import type { Services } from '../api/services.ts'
import { countSlots, takeRenewedSlot } from '../api/slots.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import type { Db, Trx } from '../platform/db/index.ts'
import { whenAborted } from '../platform/time/index.ts'

/** A listener that reconnects within this time still gets a replay. */
const HEARD_MILLISECONDS = 60_000

/** Retention of replays. */
const KEPT_MILLISECONDS = 600_000

/** A request that listeners are asked to send again. */
export interface ListenerReplay {
  readonly id: number
  readonly requestId: number
}

/** Asks the listeners of an endpoint to send a request again, and wakes them in every process. */
export async function askListeners(ctx: Context, endpointId: string, requestId: number): Promise<number> {
  const now = ctx.clock.now()
  return await ctx.db.transaction().execute(async (trx) => {
    const { id } = await trx
      .insertInto('listenerReplays')
      .values({ endpointId, requestId, createdAt: now })
      .returning('id')
      .executeTakeFirstOrThrow()
    await requireStays(ctx, trx, ctx.workspace.id)
    await announceEndpointChange(trx, endpointId)
    return id
  })
}

/** Deletes replays past their retention. */
export async function deleteOldReplays(trx: Trx, now: Date): Promise<void> {
  const keptSince = new Date(now.getTime() - KEPT_MILLISECONDS)
  await trx.deleteFrom('listenerReplays').where('createdAt', '<', keptSince).execute()
}

/**
 * The start position of a listener that connects now: after replays older than a minute.
 *
 * @returns the id that {@link findAskedReplays} takes
 */
export async function newReplaysFrom(db: Db, endpointId: string, now: Date): Promise<number> {
  const { last } = await db
    .selectFrom('listenerReplays')
    .where('endpointId', '=', endpointId)
    .where('createdAt', '<', new Date(now.getTime() - HEARD_MILLISECONDS))
    .select((of) => of.fn.max('id').as('last'))
    .executeTakeFirstOrThrow()
  return Number(last ?? 0)
}

/** Replays after an id without a report, oldest first. */
export function findAskedReplays(db: Db, endpointId: string, afterId: number): Promise<ListenerReplay[]> {
  return db
    .selectFrom('listenerReplays')
    .where('endpointId', '=', endpointId)
    .where('id', '>', afterId)
    .where('reportedAt', 'is', null)
    .select(['id', 'requestId'])
    .orderBy('id')
    .limit(100)
    .execute()
}

/** Marks a replay as reported, so that listeners that connect later need not send it again. */
export async function markReported(trx: Trx, endpointId: string, id: number, now: Date): Promise<void> {
  await trx
    .updateTable('listenerReplays')
    .set({ reportedAt: now })
    .where('endpointId', '=', endpointId)
    .where('id', '=', id)
    .where('reportedAt', 'is', null)
    .execute()
}

/** Concurrent listeners of an endpoint. */
const LISTENERS_MAX = 50

const scopeOf = (endpointId: string): string => `listener:${endpointId}`

/**
 * Counts a listener as connected to an endpoint, over all processes, until `ended` aborts.
 *
 * @throws DomainError `rate_limited` when there are too many
 */
export async function joinListeners(
  services: Services,
  endpointId: string,
  ended: AbortSignal,
): Promise<void> {
  const leave = await takeRenewedSlot(
    services,
    { scope: scopeOf(endpointId), max: LISTENERS_MAX, noun: 'listeners of this endpoint' },
    'the presence of a listener was not written',
  )
  whenAborted(ended, leave)
}

/** How many listeners are connected to an endpoint. */
export function countListeners(services: Services, endpointId: string): Promise<number> {
  return countSlots(services, scopeOf(endpointId))
}
