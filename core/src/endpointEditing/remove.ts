import type { Context } from '../api/context.ts'
import { recordChange } from '../audit/index.ts'
import { type EndpointRow, endpointView, markEndpointDeleted } from '../endpoints/index.ts'
import { applyPlanLimits } from '../planLimits/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'
import { endpointChange } from './change.ts'

/**
 * Deletes an endpoint. It is gone at once for senders, readers and queued deliveries, whatever its size. Its rows are
 * deleted in the background (retention/purgeEndpoints.ts). Endpoints that were suspended by the plan may be in use
 * again.
 */
export async function removeEndpoint(ctx: Context, endpoint: EndpointRow): Promise<void> {
  const endpointId = endpoint.id
  await ctx.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, ctx.workspace.id)
    await markEndpointDeleted(trx, endpointId, ctx.clock.now())
    await applyPlanLimits(ctx, trx, ctx.workspace.id)
    await announceEndpointChange(trx, endpointId)
    await recordChange(trx, ctx, endpointChange(ctx, 'endpoints.remove', endpointView(endpoint, ctx), null))
  })
}
