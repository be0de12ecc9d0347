import { z } from 'zod'
import { SEALED_ACTIONS } from '../actions/index.ts'
import { SEALED_CHANNELS } from '../alertChannels/index.ts'
import { operatorProcedure, operatorRouterOf } from '../api/operatorProcedure.ts'
import { recordChange } from '../audit/index.ts'
import { SEALED_ENDPOINTS } from '../endpoints/index.ts'
import { SEALED_ERASURES } from '../erasures/index.ts'
import { type Resealed, resealSample, resealTable } from '../platform/secrets/index.ts'
import { SEALED_RECONCILIATIONS } from '../reconcile/index.ts'
import { SEALED_ORIGINAL_KEYS } from '../requests/index.ts'
import { SEALED_SUBSCRIPTIONS } from '../subscriptions/index.ts'
import { SEALED_WORKSPACE_KEYS } from '../workspaces/index.ts'

const SEALED_TABLES = [
  SEALED_ENDPOINTS,
  SEALED_ACTIONS,
  SEALED_CHANNELS,
  SEALED_RECONCILIATIONS,
  SEALED_SUBSCRIPTIONS,
  SEALED_WORKSPACE_KEYS,
  SEALED_ERASURES,
  SEALED_ORIGINAL_KEYS,
]

/** Manage the keys that encrypt stored secrets. */
export const secretOperatorRoutes = operatorRouterOf({
  /** May be interrupted at any time, and run again. */
  rotate: operatorProcedure
    .output(z.object({ resealedCount: z.int(), unreadableCount: z.int() }))
    .mutation(async ({ ctx }) => {
      const counts: Resealed = { resealedCount: 0, unreadableCount: 0 }
      for (const table of SEALED_TABLES) await resealTable(ctx, table, counts)
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
