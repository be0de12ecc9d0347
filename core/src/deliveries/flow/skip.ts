import type { Context } from '../../api/context.ts'
import { notAllowed } from '../../api/errors.ts'
import { recordChange } from '../../audit/index.ts'
import { announceEndpointChange } from '../../platform/changes/index.ts'
import type { Trx } from '../../platform/db/index.ts'
import { deliveryOf } from '../retryNow.ts'
import { free } from './held.ts'

/** A dead letter that was skipped: it no longer holds its key. */
export interface Skipped {
  readonly requestId: number
  readonly actionId: string
  readonly key: string
}

/**
 * Frees the key that a dead letter holds, so that the next deliveries of the key start. It stays a dead letter.
 *
 * @param attemptId any attempt of the dead letter's delivery
 * @throws DomainError `validation_failed` when the delivery holds no key
 */
export async function skipHeld(ctx: Context, endpointId: string, attemptId: number): Promise<Skipped> {
  return await ctx.db.transaction().execute(async (trx) => {
    const deliveryId = await deliveryOf(trx, endpointId, attemptId)
    const held = deliveryId === null ? undefined : await findHeld(trx, deliveryId)
    if (held?.orderKey == null) throw nothingHeld()
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

function findHeld(trx: Trx, deliveryId: number) {
  return trx
    .selectFrom('deliveries')
    .where('id', '=', deliveryId)
    .where('flowState', '=', 'held')
    .select(['requestId', 'actionId', 'actionName', 'orderKey'])
    .executeTakeFirst()
}

function nothingHeld() {
  return notAllowed(['attemptId'], 'This delivery holds no ordering key. Nothing to skip.')
}
