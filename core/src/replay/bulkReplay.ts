import { type ActionRow, listActions, planDispatch } from '../actions/index.ts'
import type { Context } from '../api/context.ts'
import { flowSignal, insertDeliveries } from '../deliveries/index.ts'
import { requestRoot, storedCondition } from '../engine/conditions/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { findReplayable, findReplayableSizes, storedRequest } from '../requests/index.ts'
import { chooseActions } from './replayRequest.ts'

/** Requests in memory at once, with their bodies, while conditions are evaluated. */
const EVALUATED_AT_ONCE = 10

/**
 * Queues captured requests again, with the full retry schedule. Without `actionId`, each goes through the enabled
 * actions with a matching condition.
 *
 * @returns requests queued, deliveries created, and ids skipped: absent, binned, oversize, or no action matched
 * @throws DomainError as a single replay does
 */
export async function bulkReplay(
  ctx: Context,
  endpointId: string,
  requestIds: readonly number[],
  actionId: string | undefined,
): Promise<{ queuedCount: number; deliveryCount: number; skippedCount: number }> {
  const actions = chooseActions(await listActions(ctx.db, endpointId), actionId)
  const pairs = await pairUp(ctx, endpointId, requestIds, actions, actionId !== undefined)
  const now = ctx.clock.now()
  const { id: workspaceId } = ctx.workspace
  const signals = pairs.flatMap(({ action: { id, governed } }) =>
    governed ? [flowSignal('work', { id, workspaceId })] : [],
  )
  await ctx.db.transaction().execute(async (trx) => {
    await insertDeliveries(
      ctx,
      trx,
      pairs.map(({ requestId, bodyBytes, action }) => ({
        workspaceId,
        endpointId,
        requestId,
        actionId: action.id,
        actionName: action.name,
        kind: action.kind,
        bodyBytes,
        trigger: 'bulkReplay',
        // Replays are outside of the order.
        flow: action.governed ? { orderKey: null } : null,
        createdAt: now,
      })),
    )
    await announceEndpointChange(trx, ...signals)
  })
  const queuedCount = new Set(pairs.map(({ requestId }) => requestId)).size
  return { queuedCount, deliveryCount: pairs.length, skippedCount: requestIds.length - queuedCount }
}

interface Pair {
  readonly requestId: number
  readonly bodyBytes: number
  readonly action: ActionRow
}

/** Pairs requests with actions. Bodies are read only for conditions that need them. */
async function pairUp(
  ctx: Context,
  endpointId: string,
  requestIds: readonly number[],
  actions: readonly ActionRow[],
  isForced: boolean,
): Promise<Pair[]> {
  const dispatchable = actions.map((action) => ({ ...action, condition: storedCondition(action.condition) }))
  const found = await findReplayableSizes(ctx.db, endpointId, requestIds)
  if (isForced || dispatchable.every(({ condition }) => condition.test.kind === 'always')) {
    return found.flatMap(({ id, bodyBytes }) =>
      actions.map((action) => ({ requestId: id, bodyBytes, action })),
    )
  }
  const pairs: Pair[] = []
  for (let at = 0; at < found.length; at += EVALUATED_AT_ONCE) {
    const ids = found.slice(at, at + EVALUATED_AT_ONCE).map(({ id }) => id)
    for (const row of await findReplayable(ctx.db, endpointId, ids)) {
      const chosen = new Set(
        planDispatch(dispatchable, requestRoot(storedRequest(row))).actions.map(({ id }) => id),
      )
      for (const action of actions)
        if (chosen.has(action.id)) pairs.push({ requestId: row.id, bodyBytes: row.body.length, action })
    }
  }
  return pairs
}
