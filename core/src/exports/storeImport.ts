import { sql } from 'kysely'
import { z } from 'zod'
import type { Context } from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import { requireStays } from '../api/seal.ts'
import type { Services } from '../api/services.ts'
import { Int64 } from '../api/values.ts'
import { recordChange } from '../audit/index.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { codeOf, Failures, isRefusedForGood } from '../platform/db/index.ts'
import { sweepQueue } from '../platform/queues.ts'
import type { DataKeyRef } from '../platform/secrets/index.ts'
import { lockCounters } from '../requests/index.ts'
import { dropImport, storedCount, storeStaged } from './importQueries.ts'

export const Imported = z.object({
  importedCount: z.int(),
  firstId: Int64.nullable().describe(
    'Id of the first request that was stored. Null where none was, and where the import is accepted but the database fails meanwhile: the rest is stored within minutes',
  ),
  lastId: Int64.nullable(),
})
export type Imported = z.output<typeof Imported>

export const NOTHING_IMPORTED: Imported = { importedCount: 0, firstId: null, lastId: null }

/** Time without progress after which an accepted import counts as abandoned by its process. */
const RESUMED_AFTER_MS = 60_000

/** An endpoint with the settings under which lines were staged. */
export type ImportedInto = Pick<
  EndpointRow,
  'id' | 'captureId' | 'storeRules' | 'dropHeaders' | 'encryptBodies'
>

interface StagedImport {
  readonly importId: string
  readonly endpoint: ImportedInto
  readonly count: number
  readonly sealing: Pick<DataKeyRef, 'id'> | null
}

/**
 * Accepts a staged import, so that all of it will be stored.
 *
 * @param sealing the key that seals its lines; null if they are in plain
 * @throws DomainError `limit_reached` when the endpoint has no room for it now; `concurrent_change` when it may no longer
 *   store what was staged; `unavailable` while the workspace is about to be in another cell
 */
export async function acceptImport(
  ctx: Pick<Context, 'db' | 'clock' | 'plan' | 'cell' | 'workspace'>,
  { importId, endpoint, count, sealing }: StagedImport,
): Promise<void> {
  const { db, clock, plan, workspace } = ctx
  const { id: endpointId, storeRules, dropHeaders, encryptBodies } = endpoint
  await db.transaction().execute(async (trx) => {
    await lockCounters(trx, endpointId)
    const unchanged = await trx
      .selectFrom('endpoints')
      .where((where) => where.and({ id: endpointId, storeRules, dropHeaders, encryptBodies }))
      .$if(sealing !== null, (query) =>
        // A shred may have destroyed it since, and then the lines could not be read.
        query.where(sql<boolean>`creel_keys.data_key(${sealing?.id}) is not null`),
      )
      .select('id')
      .executeTakeFirst()
    if (unchanged === undefined) {
      const detail =
        'What the endpoint may store, or its key, was changed while the import arrived. Nothing was stored.'
      throw new DomainError('concurrent_change', detail)
    }
    const room = Math.max(0, plan.limits.storedRequestsMax - (await storedCount(trx, endpointId)))
    if (count > room) {
      const detail = `The endpoint has room for ${room} more requests, not for ${count}. Nothing was stored.`
      throw new DomainError('limit_reached', detail)
    }
    const dueAt = new Date(clock.now().getTime() + RESUMED_AFTER_MS)
    await trx.updateTable('imports').set({ isAccepted: true, dueAt }).where('id', '=', importId).execute()
    await requireStays(ctx, trx, workspace.id)
  })
}

/** The services that store an import, and the actor for the audit log. */
type Storing = Pick<Services, 'db' | 'clock' | 'actor' | 'log'> & { readonly traceId?: string }

/**
 * Stores the remaining batches of an accepted import, each in a short transaction. Two processes may do so at once.
 * Requests become visible batch by batch. Captures that arrive in between may fill the endpoint and then evict the
 * oldest requests.
 *
 * @throws errors of the database. After one that would come again, the rest of the import is dropped
 */
export async function storeImport(who: Storing, named: NamedImport): Promise<Imported> {
  try {
    return await storeBatches(who, named)
  } catch (err) {
    if (codeOf(err) !== undefined && isRefusedForGood(err)) {
      const { importId, endpointId } = named
      who.log.error({ err, importId, endpointId }, 'dropped the rest of an import that cannot be stored')
      await dropImport(who.db, importId)
    }
    throw err
  }
}

type NamedImport = Readonly<Record<'importId' | 'endpointId' | 'workspaceId', string>>

async function storeBatches(
  who: Storing,
  { importId, endpointId, workspaceId }: NamedImport,
): Promise<Imported> {
  let imported = NOTHING_IMPORTED
  for (;;) {
    const stored = await who.db.transaction().execute(async (trx) => {
      // Ids are drawn under the lock, like those of captures, so that they commit in order.
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

/** Deletes imports whose process died before they were accepted, and stores the rest of accepted ones. */
export async function sweepImports(services: Storing, signal: AbortSignal): Promise<void> {
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
  const failures = new Failures()
  for (const { id: importId, ...of } of due) {
    if (signal.aborted) return
    await failures.unless(() => storeImport(services, { importId, ...of }))
  }
  failures.throwAny()
}

/**
 * Finishes imports whose process died, and drops those that were not fully checked. Singleton; the next run resumes
 * where this one stopped.
 */
export const IMPORT_SWEEP = sweepQueue('imports.sweep', 3600)
