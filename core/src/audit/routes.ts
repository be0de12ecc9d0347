import { z } from 'zod'
import { idCursor } from '../api/cursors.ts'
import { envelope, paged } from '../api/pagination.ts'
import { route, router } from '../api/route.ts'
import { listEntries } from './queries.ts'
import { AuditEntry, entryView, listInput } from './schema.ts'

/** Read the changes in the caller's workspace, with their authors. */
export const auditRoutes = router({
  list: route({
    method: 'GET',
    path: '/api/v1/audit',
    summary: 'List the audit log, newest first',
    description:
      'Entries are written in the transaction of the change and never altered. Captures, deliveries, replays and samples are not in it: they are records themselves. Secrets are masked.',
    scope: 'admin',
    input: z.object(listInput),
    output: envelope(AuditEntry.meta({ id: 'AuditEntry' })),
  }).query(async ({ ctx, input }) => {
    const found = await ctx.reads.run(({ db }) => listEntries(db, ctx.workspace.id, input, input))
    return paged(found, input, { view: entryView, cursorOf: ({ id }) => idCursor(id) })
  }),
})
