import { z } from 'zod'
import { resealActions } from '../actions/index.ts'
import { resealChannels } from '../alertChannels/index.ts'
import { operatorProcedure, operatorRouterOf } from '../api/operatorProcedure.ts'
import { recordChange } from '../audit/index.ts'
import { resealEndpoints } from '../endpoints/index.ts'
import { type Resealed, resealSample } from '../platform/secrets/index.ts'
import { resealReconciliations } from '../reconcile/index.ts'
import { resealSubscriptions } from '../subscriptions/index.ts'

/** Manage the keys that encrypt stored secrets. */
export const secretOperatorRoutes = operatorRouterOf({
  /** May be interrupted at any time, and run again. */
  rotate: operatorProcedure
    .output(z.object({ resealedCount: z.int(), unreadableCount: z.int() }))
    .mutation(async ({ ctx }) => {
      const counts: Resealed = { resealedCount: 0, unreadableCount: 0 }
      await resealEndpoints(ctx, counts)
      await resealActions(ctx, counts)
      await resealChannels(ctx, counts)
      await resealReconciliations(ctx, counts)
      await resealSubscriptions(ctx, counts)
      // Last: until then the service starts with the old key alone, which still opens what was not reached.
      await resealSample(ctx.db, ctx.secrets)
      await ctx.db.transaction().execute((trx) =>
        recordChange(trx, ctx, {
          action: 'secrets.rotate',
          workspaceId: null,
          subject: { type: 'installation', id: 'secrets' },
          before: {},
          after: counts,
        }),
      )
      return counts
    }),
})
