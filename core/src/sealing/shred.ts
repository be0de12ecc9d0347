import { z } from 'zod'
import type { Context } from '../api/context.ts'
import { post, router } from '../api/route.ts'
import { endpointId } from '../api/values.ts'
import { recordChange } from '../audit/index.ts'
import { destroyDataKey, type EndpointRow, findsEndpoint, shredSignal } from '../endpoints/index.ts'
import { forgetFields } from '../events/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { forgetAllOriginals, forgetNextOriginals } from '../requests/index.ts'

/** Destroys the keys of encrypted requests; in the API it is among the routes of `endpoints`. */
export const sealingRoutes = router({
  shred: post('/api/v1/endpoints/{endpointId}/shred', {
    summary: 'Destroy the key of an endpoint’s encrypted requests; irreversible',
    description:
      'All that `encryptBodies` has encrypted is gone at once and for ever, also in the recycle bin and in every backup without the schema `creel_keys`. The requests stay, with `shredded: true`, and originals that wait for deliveries go, too. While `encryptBodies` is on, later captures are encrypted with a new key. Requests that are not encrypted do not change.',
    input: z.object({ endpointId }),
    output: z.object({
      shredded: z.boolean().describe('Whether there was a key; false: nothing was encrypted'),
    }),
    finds: findsEndpoint,
  }).mutation(({ ctx }) => shred(ctx, ctx.endpoint)),
})

/** The last originals go with the data key. A call that fails before has destroyed some, and can be repeated. */
async function shred(ctx: Context, { id, name }: EndpointRow): Promise<{ shredded: boolean }> {
  await forgetAllOriginals(ctx.db, id)
  return await ctx.db.transaction().execute(async (trx) => {
    const shredded = await destroyDataKey(trx, id)
    await forgetNextOriginals(trx, id)
    await forgetFields(trx, id)
    await announceEndpointChange(trx, id, shredSignal(id))
    await recordChange(trx, ctx, {
      action: 'endpoints.shred',
      workspaceId: ctx.workspace.id,
      subject: { type: 'endpoint', id, name },
      endpointId: id,
      before: null,
      after: { shredded },
    })
    return { shredded }
  })
}
