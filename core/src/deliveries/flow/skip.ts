import type { Context } from '../../api/context.ts'
import { notAllowed } from '../../api/errors.ts'
import { recordChange } from '../../audit/index.ts'
import { announceEndpointChange } from '../../platform/changes/index.ts'
import { deliveryOf } from '../retryNow.ts'
import { free } from './held.ts'

/**
 * Frees the key that a dead letter holds, so that the next deliveries of the key start. It stays a dead letter.
 *
 * @param attemptId any attempt of the dead letter's delivery
 * @returns the dead letter that was skipped, and its key
 * @throws DomainError `validation_failed` when the delivery holds no key
 */
export async function skipHeld(ctx: Context, endpointId: string, attemptId: number) {
  return await ctx.db.transaction().execute(async (trx) => {
    const deliveryId = await deliveryOf(trx, endpointId, attemptId)
    const held = await trx
      .selectFrom('deliveries')
      .where('id', '=', deliveryId)
      .where('flowState', '=', 'held')
      .select(['requestId', 'actionId', 'actionName', 'orderKey'])
      .executeTakeFirst()
    if (held?.orderKey == null)
      throw notAllowed(['attemptId'], 'This delivery holds no ordering key. Nothing to skip.')
    const { requestId, actionId, actionName, orderKey: key } = held
    await free(ctx, trx, actionId, [requestId])
    await recordChange(trx, ctx, {
      action: 'deliveries.skip',
      workspaceId: ctx.workspace.id,
      subject: { type: 'action', id: actionId, name: actionName },
      endpointId,
      before: { requestId },
      after: null,
    })
    await announceEndpointChange(trx, endpointId)
    return { requestId, actionId, key }
  })
}
