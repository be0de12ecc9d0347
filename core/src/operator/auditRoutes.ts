import { z } from 'zod'
import { operatorProcedure, operatorRouterOf } from '../api/operatorProcedure.ts'
import { pageInput } from '../api/pagination.ts'
import { AuditEntry, auditFilters, entryView, listEntries } from '../audit/index.ts'
import { getWorkspace, WorkspaceReference } from '../workspaces/index.ts'

/** Read the audit log of one workspace, or of the installation. */
export const auditOperatorRoutes = operatorRouterOf({
  list: operatorProcedure
    .input(z.object({ ...pageInput, ...auditFilters, workspace: WorkspaceReference.optional() }))
    .output(z.object({ items: z.array(AuditEntry), totalCount: z.int() }))
    .query(async ({ ctx, input: { page, pageSize, workspace, ...filters } }) => {
      const workspaceId = workspace === undefined ? null : (await getWorkspace(ctx.db, workspace)).id
      const { rows, totalCount } = await listEntries(ctx.db, workspaceId, filters, { page, pageSize })
      return { items: rows.map(entryView), totalCount }
    }),
})
