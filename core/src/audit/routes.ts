import type { Selectable } from 'kysely'
import { z } from 'zod'
import { idCursor, idCursorInput } from '../api/cursors.ts'
import { envelope, paged, pageInput } from '../api/pagination.ts'
import { get, router } from '../api/route.ts'
import { ACTOR_KINDS } from '../api/services.ts'
import { InstantInput, Int64, optional, Timestamp } from '../api/values.ts'
import type { AuditEntriesTable } from '../platform/db/index.ts'
import { listEntries } from './queries.ts'

const Changed = z.record(z.string(), z.unknown()).nullable()

/** One change, with its author. */
export const AuditEntry = z.object({
  id: Int64,
  at: Timestamp,
  actor: z.object({
    kind: z
      .enum(ACTOR_KINDS)
      .describe(
        '`key`: a call with a key; `session`: a browser that is signed in; `operator`: a command; `service`: Creel by itself',
      ),
    id: z.uuid().nullable().describe('Id of the key or the session'),
    name: z.string().describe('Name at that time'),
    address: z.string().nullable().describe('Address of the caller'),
  }),
  traceId: z.string().nullable().describe('Trace id of the call; the same in the log of the service'),
  action: z.string().describe('Name of the procedure, such as `endpoints.update`'),
  subject: z.object({ type: z.string(), id: z.string(), name: z.string().nullable() }),
  endpointId: z.uuid().nullable(),
  before: Changed.describe('The members that changed, as they were; null before a creation'),
  after: Changed.describe('The members that changed, as they are; null after a deletion'),
})

const name = optional(z.string().trim().min(1).max(100))

export const auditFilters = {
  action: name.describe('Only this action, such as `endpoints.update`'),
  actorKind: optional(z.enum(ACTOR_KINDS)),
  actorId: optional(z.guid()).describe('Id of the key or the session'),
  subjectType: name.describe('Only subjects of this type: `endpoint`, `key`, …'),
  subjectId: name,
  endpointId: optional(z.guid()).describe('Only this endpoint, also if it was deleted'),
  since: optional(InstantInput).describe('At or after'),
  until: optional(InstantInput).describe('Before'),
}

const listInput = { ...pageInput, ...idCursorInput('audit'), ...auditFilters }

/** A stored entry in the API's format. */
export function entryView(row: Selectable<AuditEntriesTable>): z.input<typeof AuditEntry> {
  const { id, at, actorId, actorName, address, traceId, action, endpointId } = row
  return {
    id,
    at,
    actor: { kind: row.actorKind, id: actorId, name: actorName, address },
    traceId,
    action,
    subject: { type: row.subjectType, id: row.subjectId, name: row.subjectName },
    endpointId,
    before: row.before === null ? null : JSON.parse(row.before),
    after: row.after === null ? null : JSON.parse(row.after),
  }
}

/** Read the changes in the caller's workspace, with their authors. */
export const auditRoutes = router({
  list: get('/api/v1/audit', {
    summary: 'List the audit log, newest first',
    description:
      'Entries are written in the transaction of the change and never altered. Captures, deliveries, replays and samples are not in it: they are records themselves. Secrets are masked.',
    scope: 'admin',
    input: z.object(listInput),
    output: envelope(AuditEntry.meta({ id: 'AuditEntry' })),
  }).query(async ({ ctx, input }) => {
    const found = await ctx.reads.run(({ db }) => listEntries(db, ctx.workspace.id, input, input))
    return paged(found, input, { view: entryView, cursorOf: ({ id }) => idCursor('audit', id) })
  }),
})
