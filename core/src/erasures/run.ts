import type { Selectable } from 'kysely'
import type { Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import { type ErasuresTable, isDatabaseOutage } from '../platform/db/index.ts'
import { requeueLost } from '../runs/index.ts'
import { ERASURE_RUNS, ERASURES } from './jobs.ts'
import { valueFinder } from './match.ts'
import { progressed, stepOf, type Work } from './parts.ts'
import { Progress } from './progress.ts'

/** Time for which a job works, in milliseconds. The next job continues. */
const SLICE_MS = 2_000

/** An erasure as it is stored. */
export type ErasureRow = Selectable<ErasuresTable>

type ErasureServices = Pick<Services, 'db' | 'clock' | 'enqueue' | 'secrets' | 'log' | 'actor'> & {
  readonly traceId?: string
}

/**
 * Works on an erasure for {@link SLICE_MS}, and queues the job that continues it. Each step erases what it found and
 * stores the progress in one transaction, so an interrupted step is done again, and a finished one is not.
 *
 * @throws errors of an unreachable database
 */
export async function runErasure(
  services: ErasureServices,
  { erasureId }: { readonly erasureId: string },
  signal: AbortSignal,
): Promise<void> {
  const { db, clock } = services
  const now = clock.now()
  const row = await db
    .updateTable('erasures')
    .set({ state: 'running', dueAt: new Date(now.getTime() + ERASURES.leaseMs) })
    .where('id', '=', erasureId)
    .where('finishedAt', 'is', null)
    .where('dueAt', '<=', now)
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) return
  try {
    await workOn(services, row, signal)
  } catch (error) {
    if (isDatabaseOutage(error)) throw error
    // The message of an error may repeat a value.
    const name = error instanceof Error ? error.name : 'unknown'
    services.log.error({ err: name, erasureId }, 'an erasure failed')
    await end(services, row, 'failed', Progress.parse(JSON.parse(row.progress)))
  }
}

async function workOn(services: ErasureServices, row: ErasureRow, signal: AbortSignal): Promise<void> {
  const { db, clock, secrets, enqueue } = services
  if (row.value === null) throw new Error('The value of the erasure is gone.')
  const paths: string[] = JSON.parse(row.paths)
  const work: Work = {
    services,
    workspaceId: row.workspaceId,
    finder: valueFinder(secrets.open(row.value, row.workspaceId), paths),
    mode: row.mode,
  }
  const endsAt = performance.now() + SLICE_MS
  let progress = Progress.parse(JSON.parse(row.progress))
  for (;;) {
    const [part] = progress.left
    if (part === undefined) return await end(services, row, 'done', progress)
    const step = await stepOf(work, part)
    const after = progressed(progress, step)
    const isPaused = performance.now() > endsAt || signal.aborted
    const now = clock.now()
    await db.transaction().execute(async (trx) => {
      if (!row.dryRun) await step.erase(trx)
      await trx
        .updateTable('erasures')
        .set({
          progress: JSON.stringify(after),
          dueAt: isPaused ? now : new Date(now.getTime() + ERASURES.leaseMs),
        })
        .where('id', '=', row.id)
        .execute()
      if (isPaused) await enqueue(trx, ERASURE_RUNS, [{ payload: { erasureId: row.id } }])
    })
    if (isPaused) return
    progress = after
  }
}

async function end(
  services: ErasureServices,
  { id, workspaceId, dryRun, mode, valueHash }: ErasureRow,
  state: 'done' | 'failed',
  progress: Progress,
): Promise<void> {
  await services.db.transaction().execute(async (trx) => {
    const ended = await trx
      .updateTable('erasures')
      .set({ state, value: null, progress: JSON.stringify(progress), finishedAt: services.clock.now() })
      .where('id', '=', id)
      .where('finishedAt', 'is', null)
      .returning('id')
      .executeTakeFirst()
    if (ended === undefined) return
    await recordChange(trx, services, {
      action: 'erasures.finish',
      workspaceId,
      subject: { type: 'erasure', id },
      before: {},
      after: { state, dryRun, mode, valueHash, ...progress.counts },
    })
  })
}

/** Queues a job for each erasure that lost its own. */
export const sweepErasures = (services: Pick<Services, 'db' | 'clock' | 'enqueue'>): Promise<void> =>
  requeueLost(services, ERASURES, 0)
