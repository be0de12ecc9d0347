import { type Selectable, sql } from 'kysely'
import { type Between, type IdPlace, pageById } from '../api/cursors.ts'
import type { Page } from '../api/pagination.ts'
import type { Services } from '../api/services.ts'
import type { AuditEntriesTable, Db } from '../platform/db/index.ts'
import { DAY_MS } from '../platform/time/index.ts'

/** Filters of the log; all combine with AND. */
export interface AuditFilters {
  readonly action?: string | undefined
  readonly actorKind?: Selectable<AuditEntriesTable>['actorKind'] | undefined
  readonly actorId?: string | undefined
  readonly subjectType?: string | undefined
  readonly subjectId?: string | undefined
  readonly endpointId?: string | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
}

/**
 * One page, newest first; served by `audit_entries_by_workspace`.
 *
 * @param workspaceId the workspace; null: all workspaces, and entries about the installation
 */
export async function listEntries(
  db: Db,
  workspaceId: string | null,
  filters: AuditFilters,
  page: Page & Between<IdPlace>,
) {
  const { action, actorKind, actorId, subjectType, subjectId, endpointId, since, until } = filters
  const matching = db
    .selectFrom('auditEntries')
    .$if(workspaceId !== null, (query) => query.where('workspaceId', '=', workspaceId))
    .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
    .$if(actorKind !== undefined, (query) => query.where('actorKind', '=', actorKind ?? 'key'))
    .$if(actorId !== undefined, (query) => query.where('actorId', '=', actorId ?? null))
    .$if(subjectType !== undefined, (query) => query.where('subjectType', '=', subjectType ?? ''))
    .$if(subjectId !== undefined, (query) => query.where('subjectId', '=', subjectId ?? ''))
    .$if(endpointId !== undefined, (query) => query.where('endpointId', '=', endpointId ?? null))
    .$if(since !== undefined, (query) => query.where('at', '>=', since ?? new Date(0)))
    .$if(until !== undefined, (query) => query.where('at', '<', until ?? new Date(0)))
  return await pageById(matching.selectAll(), 'id', page)
}

const BATCH_ROWS = 1000

/** Deletes entries from before a moment, in batches. Entries cannot be deleted in any other way. */
async function sweepEntries(db: Db, before: Date, signal: AbortSignal): Promise<void> {
  for (;;) {
    const deleted = await db.transaction().execute(async (trx) => {
      await sql`select set_config('creel.audit_sweep', 'on', true)`.execute(trx)
      const { numDeletedRows } = await trx
        .deleteFrom('auditEntries')
        .where('id', 'in', (of) =>
          of.selectFrom('auditEntries').select('id').where('at', '<', before).orderBy('at').limit(BATCH_ROWS),
        )
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    })
    if (deleted < BATCH_ROWS || signal.aborted) return
  }
}

/** Deletes entries that are past the operator's retention. May be interrupted at any time. */
export async function sweepAudit(
  { db, clock, auditRetentionDays }: Pick<Services, 'db' | 'clock' | 'auditRetentionDays'>,
  signal: AbortSignal,
): Promise<void> {
  await sweepEntries(db, new Date(clock.now().getTime() - auditRetentionDays * DAY_MS), signal)
}
