import { sql } from 'kysely'
import { forgetWords } from '../alertChannels/index.ts'
import { sealMessages } from '../alerts/index.ts'
import { isSealed } from '../api/seal.ts'
import type { Services } from '../api/services.ts'
import { sealLateRecords, sealRecords } from '../deliveries/index.ts'
import { ensureDataKey } from '../endpoints/index.ts'
import { isImporting } from '../exports/index.ts'
import { Failures, type Trx } from '../platform/db/index.ts'
import { sweepQueue } from '../platform/queues.ts'
import { openDataKey } from '../platform/secrets/index.ts'
import { sealAnswers } from '../rehearsals/index.ts'
import { sealNext } from '../requests/index.ts'
import { sealAgentEvents } from '../subscriptions/index.ts'

/** Time of a run, in milliseconds; the next one continues. */
const RUN_MS = 30_000

/** Lets what an endpoint has stored in plain be sealed in the background. */
export async function sealEarlier(trx: Trx, endpointId: string): Promise<void> {
  await trx
    .insertInto('sealings')
    .values({ endpointId })
    .onConflict((conflict) => conflict.column('endpointId').doUpdateSet({ sealedToId: 0, leftFromId: null }))
    .execute()
}

/**
 * Seals requests, records of attempts, messages, answers and events that endpoints with `encryptBodies` have stored in plain, in
 * short transactions. The endpoints take turns, and one that fails ends no others.
 *
 * @throws what has failed, at the end
 */
export async function sealStored(services: Services, signal: AbortSignal): Promise<void> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(RUN_MS)])
  const { rows } = await sql<{ endpointId: string }>`
    select s.endpoint_id from sealings s join endpoints e on e.id = s.endpoint_id
    join workspaces w on w.id = e.workspace_id
    where e.deleted_at is null and not ${sql.raw(isSealed('w'))} order by s.endpoint_id`.execute(services.db)
  const failures = new Failures()
  const left = new Set(rows.map(({ endpointId }) => endpointId))
  while (left.size > 0)
    for (const id of left)
      if (ending.aborted || !(await failures.unless(() => sealSome(services, id)))) left.delete(id)
  failures.throwAny()
}

/** Seals some of what an endpoint has stored. Returns false if nothing more can be sealed now. */
async function sealSome({ db, secrets }: Services, endpointId: string): Promise<boolean> {
  return await db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('sealings as s')
      .innerJoin('endpoints as e', 'e.id', 's.endpointId')
      .where('s.endpointId', '=', endpointId)
      .select(['s.sealedToId', 's.leftFromId', 'e.workspaceId', 'e.encryptBodies'])
      .forUpdate('s')
      .skipLocked()
      .executeTakeFirst()
    if (row === undefined) return false
    if (!row.encryptBodies) {
      await end(trx, endpointId)
      return false
    }
    // Before the look at requests: those that an import stores meanwhile are left for the next run.
    const isMoreToCome = await isImporting(trx, endpointId)
    const ref = await ensureDataKey(trx, { workspaceId: row.workspaceId, endpointId, secrets })
    const sealing = { ...ref, key: openDataKey(secrets, ref.sealedKey) }
    const { lastId, againId } = await sealNext(
      trx,
      endpointId,
      { sealing, afterId: row.sealedToId },
      (requests) => sealRecords(secrets, trx, endpointId, requests, ref),
    )
    const leftFromId = row.leftFromId ?? againId
    const save = (sealedToId: number, leftFromId: number | null) =>
      trx
        .updateTable('sealings')
        .set({ sealedToId, leftFromId })
        .where('endpointId', '=', endpointId)
        .execute()
    if (lastId !== null) {
      const range = { afterId: row.sealedToId, upToId: lastId }
      const isMore = await sealLateRecords(secrets, trx, endpointId, { sealing: ref, ...range })
      await save(isMore ? row.sealedToId : lastId, leftFromId)
      return true
    }
    if (await sealMessages(secrets, trx, endpointId, ref)) return true
    await forgetWords(trx, { sealedOf: endpointId })
    if (await sealAnswers(secrets, trx, endpointId, ref)) return true
    if (await sealAgentEvents(secrets, trx, endpointId, ref)) return true
    // The next run looks again: at what was left out, and at records of attempts that had read a request in plain.
    if (leftFromId !== null) await save(leftFromId - 1, null)
    else if (!isMoreToCome) await end(trx, endpointId)
    return false
  })
}

async function end(trx: Trx, endpointId: string): Promise<void> {
  await trx.deleteFrom('sealings').where('endpointId', '=', endpointId).execute()
}

/** Seals what endpoints have stored in plain. Singleton, and safe to interrupt. */
export const SEALING = sweepQueue('endpoints.seal', 300)
