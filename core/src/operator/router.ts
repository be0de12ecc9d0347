import { z } from 'zod'
import { SEALED_ACTIONS } from '../actions/index.ts'
import { SEALED_CHANNELS } from '../alertChannels/index.ts'
import {
  createOperatorCallerFactory,
  mergeOperatorRouters,
  operatorProcedure,
  operatorRouterOf,
} from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import { pageInput } from '../api/pagination.ts'
import { AuditEntry, auditFilters, entryView, listEntries, recordChange } from '../audit/index.ts'
import { listMoves } from '../cells/index.ts'
import { contactOperatorRoutes } from '../contacts/routes.ts'
import { SEALED_DATA_KEYS, SEALED_ENDPOINTS } from '../endpoints/index.ts'
import { SEALED_ERASURES } from '../erasures/index.ts'
import { keyOperatorRoutes } from '../keys/routes.ts'
import { planLimitOperatorRoutes } from '../planLimits/operatorRoutes.ts'
import {
  checkSecretKey,
  type Resealed,
  resealSample,
  resealTable,
  WrongSecretKey,
} from '../platform/secrets/index.ts'
import { SEALED_RECONCILIATIONS } from '../reconcile/index.ts'
import { SEALED_ORIGINAL_KEYS } from '../requests/index.ts'
import { retentionOperatorRoutes } from '../retention/operatorRoutes.ts'
import { sessionOperatorRoutes } from '../sessions/routes.ts'
import { SEALED_SUBSCRIPTIONS } from '../subscriptions/index.ts'
import { getWorkspace, SEALED_WORKSPACE_KEYS, WorkspaceReference } from '../workspaces/index.ts'
import { workspaceOperatorRoutes } from '../workspaces/routes.ts'

const SEALED_TABLES = [
  SEALED_ENDPOINTS,
  SEALED_ACTIONS,
  SEALED_CHANNELS,
  SEALED_RECONCILIATIONS,
  SEALED_SUBSCRIPTIONS,
  SEALED_WORKSPACE_KEYS,
  SEALED_ERASURES,
  SEALED_ORIGINAL_KEYS,
  SEALED_DATA_KEYS,
]

/** Manage the keys that encrypt stored secrets. */
const secretOperatorRoutes = operatorRouterOf({
  /** May be interrupted at any time, and run again. */
  rotate: operatorProcedure
    .output(z.object({ resealedCount: z.int(), unreadableCount: z.int(), isMoving: z.boolean() }))
    .mutation(async ({ ctx }) => {
      // Else the sample would be sealed with a key that opens nothing, and the right one be refused from then on.
      await checkSecretKey(ctx.db, ctx.secrets).catch((cause: unknown) => {
        throw cause instanceof WrongSecretKey ? new DomainError('forbidden', cause.message, { cause }) : cause
      })
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
      const moves = await listMoves(ctx.db)
      return { ...counts, isMoving: moves.some(({ state }) => state === 'copying' || state === 'switching') }
    }),
})

/** Read the audit log of one workspace, or of the installation. */
const auditOperatorRoutes = operatorRouterOf({
  list: operatorProcedure
    .input(z.object({ ...pageInput, ...auditFilters, workspace: WorkspaceReference.optional() }))
    .output(z.object({ items: z.array(AuditEntry), totalCount: z.int() }))
    .query(async ({ ctx, input: { page, pageSize, workspace, ...filters } }) => {
      const workspaceId = workspace === undefined ? null : (await getWorkspace(ctx.db, workspace)).id
      const { rows, totalCount } = await listEntries(ctx.db, workspaceId, filters, { page, pageSize })
      return { items: rows.map(entryView), totalCount }
    }),
})

/** All operator procedures, by noun. */
export const operatorRouter = operatorRouterOf({
  audit: auditOperatorRoutes,
  secrets: secretOperatorRoutes,
  workspaces: mergeOperatorRouters(workspaceOperatorRoutes, planLimitOperatorRoutes),
  keys: keyOperatorRoutes,
  contacts: contactOperatorRoutes,
  retention: retentionOperatorRoutes,
  sessions: sessionOperatorRoutes,
})

/** Calls operator procedures in process; its context is the process's services. */
export const createOperatorCaller = createOperatorCallerFactory(operatorRouter)
