import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import { recordChange } from '../audit/index.ts'
import { hashWith } from '../engine/storing/index.ts'
import { acceptedImports } from '../exports/index.ts'
import { admitRun } from '../runs/index.ts'
import { ensureHashKey } from '../workspaces/index.ts'
import { ERASURE_RUNS, ERASURES } from './declarations.ts'
import { partsOf } from './parts.ts'
import { NOTHING_FOUND, type Progress } from './progress.ts'
import { type ErasureRow, runErasure } from './run.ts'
import type { startInput } from './schema.ts'

/**
 * Starts an erasure over all endpoints of the workspace, deleted ones included. It works within the call for some
 * seconds; a job continues it.
 *
 * @throws DomainError `rate_limited` while too many erasures of the workspace have not ended
 */
export async function startErasure(
  ctx: Context,
  { value, paths, mode, dryRun }: z.output<typeof startInput>,
): Promise<ErasureRow> {
  const id = randomUUID()
  const workspaceId = ctx.workspace.id
  const now = ctx.clock.now()
  const created = await ctx.db.transaction().execute(async (trx) => {
    await admitRun(trx, ERASURES, { workspaceId, owner: workspaceId })
    const key = await ensureHashKey(trx, { workspaceId, secrets: ctx.secrets, now })
    const endpoints = await trx
      .selectFrom('endpoints')
      .where('workspaceId', '=', workspaceId)
      .select('id')
      .orderBy('id')
      .execute()
    const ids = endpoints.map((endpoint) => endpoint.id)
    // Read before the last request id: an import stored between both reads is then within that id.
    const importIds = await acceptedImports(trx, ids)
    const { rows } = await sql<{ requestId: number; attemptId: number; pendingFromId: number | null }>`
      select (select last_value from request_ids)::bigint as request_id,
        (select coalesce(max(id), 0) from delivery_attempts where endpoint_id = any(${ids}::uuid[]))::bigint
          as attempt_id,
        (select min(id) from delivery_attempts where endpoint_id = any(${ids}::uuid[]) and state = 'Pending')::bigint
          as pending_from_id`.execute(trx)
    const { requestId = 0, attemptId = 0, pendingFromId = null } = rows[0] ?? {}
    const progress: Progress = {
      left: partsOf(ids.length, {
        requestId,
        importIds,
        attemptId,
        pendingFromId: pendingFromId ?? attemptId + 1,
      }),
      scannedRequests: 0,
      scannedAttempts: 0,
      counts: NOTHING_FOUND,
      endpoints: {},
    }
    const valueHash = hashWith(key)(value)
    const row = await trx
      .insertInto('erasures')
      .values({
        id,
        workspaceId,
        value: ctx.secrets.seal(value, workspaceId),
        valueHash,
        paths: JSON.stringify(paths ?? []),
        mode,
        dryRun,
        state: 'queued',
        progress: JSON.stringify(progress),
        dueAt: now,
        createdAt: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await recordChange(trx, ctx, {
      action: 'erasures.start',
      workspaceId,
      subject: { type: 'erasure', id },
      before: null,
      after: { valueHash, paths: paths ?? [], mode, dryRun },
    })
    await ctx.enqueue(trx, ERASURE_RUNS, [{ payload: { erasureId: id } }])
    return row
  })
  try {
    await runErasure(ctx, { erasureId: id }, ctx.stopping)
    return await ctx.db.selectFrom('erasures').where('id', '=', id).selectAll().executeTakeFirstOrThrow()
  } catch (error) {
    // The caller must learn its id. The message of an error may repeat a value.
    const name = error instanceof Error ? error.name : 'unknown'
    ctx.log.warn({ err: name, erasureId: id }, 'an erasure goes on by its job')
    return created
  }
}
