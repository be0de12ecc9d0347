import type { Context } from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import { lockCounters } from '../requests/index.ts'
import { dropImport, storedCount, storeStaged } from './importQueries.ts'

/** What was stored. */
export interface Imported {
  readonly importedCount: number
  /** Of the first and the last request that was stored; null when none was. */
  readonly firstId: number | null
  readonly lastId: number | null
}

/** An accepted import that no process has gone on with for so long has lost its own. */
const RESUMED_AFTER_MS = 60_000

/** An import that is wholly staged. */
interface StagedImport {
  readonly importId: string
  readonly endpointId: string
}

/**
 * Decides that a staged import is stored, all of it.
 *
 * @throws DomainError `limit_reached` when the endpoint has no room for it now
 */
export async function acceptImport(
  { db, clock, plan }: Pick<Context, 'db' | 'clock' | 'plan'>,
  { importId, endpointId, count }: StagedImport & { readonly count: number },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockCounters(trx, endpointId)
    const room = Math.max(0, plan.limits.storedRequestsMax - (await storedCount(trx, endpointId)))
    if (count > room) {
      const detail = `The endpoint has room for ${room} more requests, not for ${count}. Nothing was stored.`
      throw new DomainError('limit_reached', detail)
    }
    const dueAt = new Date(clock.now().getTime() + RESUMED_AFTER_MS)
    await trx.updateTable('imports').set({ isAccepted: true, dueAt }).where('id', '=', importId).execute()
  })
}

/** Who stores, and for whom the audit log notes it. */
type Storing = Pick<Services, 'db' | 'clock' | 'actor'> & { readonly traceId?: string }

/**
 * Stores the batches of an accepted import that are not stored yet, each in a short transaction. Two processes may do it at once.
 * Its requests are visible as their batches are; captures that come in between may fill the endpoint, and then evict the oldest.
 */
export async function storeImport(
  who: Storing,
  { importId, endpointId, workspaceId }: StagedImport & { readonly workspaceId: string },
): Promise<Imported> {
  let imported: Imported = { importedCount: 0, firstId: null, lastId: null }
  for (;;) {
    const stored = await who.db.transaction().execute(async (trx) => {
      // Ids are drawn under the lock, as captures draw theirs: they commit in order.
      await lockCounters(trx, endpointId)
      const next = await trx
        .selectFrom('importBatches')
        .where('importId', '=', importId)
        .select('number')
        .orderBy('number')
        .limit(1)
        .executeTakeFirst()
      const batch =
        next === undefined ? undefined : await storeStaged(trx, endpointId, { importId, number: next.number })
      if (batch === undefined) {
        await dropImport(trx, importId)
        return undefined
      }
      const dueAt = new Date(who.clock.now().getTime() + RESUMED_AFTER_MS)
      await trx.updateTable('imports').set({ dueAt }).where('id', '=', importId).execute()
      await recordChange(trx, who, {
        action: 'requests.import',
        workspaceId,
        subject: { type: 'endpoint', id: endpointId },
        endpointId,
        before: {},
        after: batch,
      })
      return batch
    })
    if (stored === undefined) return imported
    imported = {
      importedCount: imported.importedCount + stored.importedCount,
      firstId: imported.firstId ?? stored.firstId,
      lastId: stored.lastId,
    }
  }
}

/** Forgets imports whose process died before they were accepted, and stores the rest of those that were. */
export async function sweepImports(
  services: Pick<Services, 'db' | 'clock' | 'actor'>,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock } = services
  const now = clock.now()
  await db.deleteFrom('imports').where('isAccepted', '=', false).where('dueAt', '<=', now).execute()
  const due = await db
    .selectFrom('imports')
    .innerJoin('endpoints', 'endpoints.id', 'imports.endpointId')
    .where('isAccepted', '=', true)
    .where('dueAt', '<=', now)
    .select(['imports.id', 'endpointId', 'workspaceId'])
    .execute()
  for (const { id, endpointId, workspaceId } of due) {
    if (signal.aborted) return
    await storeImport(services, { importId: id, endpointId, workspaceId })
  }
}
