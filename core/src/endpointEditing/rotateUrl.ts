import type { Context } from '../api/context.ts'
import { notFound } from '../api/errors.ts'
import { recordChange } from '../audit/index.ts'
import { newId } from '../cells/index.ts'
import { endpointView, findEndpoint, updateEndpoint } from '../endpoints/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'
import { endpointChange } from './change.ts'

/**
 * Gives an endpoint a new capture URL; its id, settings and requests stay. The old URL works for a while. It replaces
 * an older one that still works: at most one old URL works at a time.
 *
 * @param overlapSeconds time for which the old URL works; 0 for none
 * @throws DomainError `not_found` when the endpoint was deleted meanwhile
 */
export async function rotateCaptureUrl(ctx: Context, endpointId: string, overlapSeconds: number) {
  return await ctx.db.transaction().execute(async (trx) => {
    // Concurrent rotations run one after the other, so that each replaces the URL that it found.
    await lockWorkspace(trx, ctx.workspace.id)
    const before = await findEndpoint(trx, ctx.workspace.id, endpointId)
    if (before === undefined) throw notFound('endpoint')
    await updateEndpoint(trx, endpointId, {
      captureId: newId(ctx.cell),
      previousCaptureId: before.captureId,
      previousCaptureUntil: new Date(ctx.clock.now().getTime() + overlapSeconds * 1000),
    })
    await announceEndpointChange(trx, endpointId)
    const after = await findEndpoint(trx, ctx.workspace.id, endpointId)
    if (after === undefined) throw notFound('endpoint')
    const view = endpointView(after, ctx)
    await recordChange(trx, ctx, endpointChange(ctx, 'endpoints.rotateUrl', endpointView(before, ctx), view))
    return view
  })
}
