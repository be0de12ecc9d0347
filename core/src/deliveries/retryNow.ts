import type { Context } from '../api/context.ts'
import { actionOff, notAllowed, notFound } from '../api/errors.ts'
import { requireStays } from '../api/seal.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { isOff } from './dueAttempts.ts'
import { attemptNow } from './openDeliveries.ts'
import { findOpenDeliveries } from './queries.ts'

/**
 * Makes the next scheduled attempt of a delivery now. It counts like the scheduled one, and later attempts keep to the
 * schedule.
 *
 * @param attemptId any attempt of the delivery
 * @returns the attempt that was queued to be made now
 * @throws DomainError `validation_failed` when no attempt is scheduled, or one is under way; `action_inactive`, `unavailable` under a seal
 */
export async function retryNow(ctx: Context, endpointId: string, attemptId: number) {
  const now = ctx.clock.now()
  return await ctx.db.transaction().execute(async (trx) => {
    const deliveryId = await deliveryOf(trx, endpointId, attemptId)
    const [delivery] = deliveryId === null ? [] : await findOpenDeliveries(trx, { ids: [deliveryId] })
    if (delivery === undefined)
      throw notAllowed(['attemptId'], 'No further attempt is scheduled. Replay the request instead.')
    if (delivery.flowState === 'sending')
      throw notAllowed(['attemptId'], 'An attempt is under way. Its end decides about the next one.')
    if (isOff(delivery)) throw actionOff()
    await trx
      .updateTable('deliveries')
      .set({ nextAttemptAt: now })
      .where('id', '=', delivery.id)
      .where('nextAttemptAt', '>', now)
      .execute()
    await trx
      .updateTable('deliveryAttempts')
      .set({ nextAttemptAt: now })
      .where('endpointId', '=', endpointId)
      .where('deliveryId', '=', delivery.id)
      .where('attemptNumber', '=', delivery.attemptCount)
      .where('nextAttemptAt', '>', now)
      .execute()
    await attemptNow(ctx, trx, [delivery])
    await requireStays(ctx, trx, ctx.workspace.id)
    await announceEndpointChange(trx, endpointId)
    return {
      requestId: delivery.requestId,
      actionId: delivery.actionId,
      attemptNumber: delivery.attemptCount + 1,
    }
  })
}

/**
 * The id of an attempt's delivery; null for an inline replay, and for one that has gone: its number may be that of another
 * workspace's by now, which has moved here. The delivery is locked, so that an attempt which begins in the meantime is not
 * announced twice.
 */
export async function deliveryOf(trx: Trx, endpointId: string, attemptId: number): Promise<number | null> {
  const attempt = await trx
    .selectFrom('deliveryAttempts')
    .where('endpointId', '=', endpointId)
    .where('id', '=', attemptId)
    .select('deliveryId')
    .executeTakeFirst()
  if (attempt === undefined) throw notFound('delivery attempt')
  if (attempt.deliveryId === null) return null
  const delivery = await trx
    .selectFrom('deliveries')
    .where('id', '=', attempt.deliveryId)
    .where('endpointId', '=', endpointId)
    .select('id')
    .forUpdate()
    .executeTakeFirst()
  return delivery?.id ?? null
}
