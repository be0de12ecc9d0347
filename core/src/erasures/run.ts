import { type Selectable, sql } from 'kysely'
import { isSealed } from '../api/seal.ts'
import type { Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import { type ErasuresTable, isDatabaseOutage, isWorthAnotherLease } from '../platform/db/index.ts'
import { requeueLost } from '../runs/index.ts'
import { ERASURE_RUNS, ERASURES, LEASE_MS } from './declarations.ts'
import { valueFinder } from './match.ts'
import { progressed, stepOf, type Work } from './parts.ts'
import { Progress } from './progress.ts'

/** Time for which a job works, in milliseconds. The next job continues. */
const SLICE_MS = 2_000

/** Time for which a step searches: hostile texts take seconds for each megabyte. */
const SEARCH_MS = 10_000

/** Time after which attempts that are under way are looked at again, in milliseconds. */
const WAIT_MS = 5_000

/** Nothing is erased in a workspace that is about to be in another cell: the copy has it. */
const isOpen = sql<boolean>`not exists (
  select from workspaces w where w.id = erasures.workspace_id and ${sql.raw(isSealed('w'))})`

/** An erasure as it is stored. */
export type ErasureRow = Selectable<ErasuresTable>

type ErasureServices = Pick<Services, 'db' | 'clock' | 'enqueue' | 'secrets' | 'log' | 'actor'> & {
  readonly traceId?: string
}

/**
 * Works on an erasure for {@link SLICE_MS}, and queues the job that continues it. Each step erases what it found and
 * stores the progress in one transaction, so an interrupted step is done again, and a finished one is not. If two
 * processes do the same step, the first to end it goes on.
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
    .set({ state: 'running', dueAt: new Date(now.getTime() + LEASE_MS) })
    .where('id', '=', erasureId)
    .where('finishedAt', 'is', null)
    .where('dueAt', '<=', now)
    .where(isOpen)
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) return
  try {
    await workOn(services, row, signal)
  } catch (error) {
    if (isDatabaseOutage(error)) throw error
    // The message of an error may repeat a value.
    const name = error instanceof Error ? error.name : 'unknown'
    if (isWorthAnotherLease(error)) {
      services.log.warn({ err: name, erasureId }, 'an erasure goes on when its lease has ended')
      return
    }
    services.log.error({ err: name, erasureId }, 'an erasure failed')
    await end(services, row, 'failed')
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
    searchMs: SEARCH_MS,
  }
  const endsAt = performance.now() + SLICE_MS
  let stored = row.progress
  for (;;) {
    const progress = Progress.parse(JSON.parse(stored))
    const [part] = progress.left
    if (part === undefined) return await end(services, row, 'done')
    const step = await stepOf(work, part)
    const after = JSON.stringify(progressed(progress, step))
    const isPaused = step.isWaiting === true || performance.now() > endsAt || signal.aborted
    const now = clock.now()
    const startAfter = new Date(now.getTime() + (step.isWaiting === true ? WAIT_MS : 0))
    const nextDueAt = isPaused ? startAfter : new Date(now.getTime() + LEASE_MS)
    const isStopped = await db.transaction().execute(async (trx) => {
      const written = await trx
        .updateTable('erasures')
        .set({ progress: after, dueAt: nextDueAt })
        .where('id', '=', row.id)
        .where('finishedAt', 'is', null)
        .where('progress', '=', stored)
        .where(isOpen)
        .returning('id')
        .executeTakeFirst()
      // Another cell continues with the progress that was copied, or a process has done the step because the lease had
      // ended. The first to end it goes on, so that a step that outlasts its lease is not repeated for ever.
      if (written === undefined) return true
      if (!row.dryRun) await step.erase(trx)
      if (isPaused) await enqueue(trx, ERASURE_RUNS, [{ payload: { erasureId: row.id }, startAfter }])
      return isPaused
    })
    if (isStopped) return
    stored = after
  }
}

async function end(
  services: ErasureServices,
  { id, workspaceId, dryRun, mode, valueHash }: ErasureRow,
  state: 'done' | 'failed',
): Promise<void> {
  await services.db.transaction().execute(async (trx) => {
    const ended = await trx
      .updateTable('erasures')
      .set({ state, value: null, finishedAt: services.clock.now() })
      .where('id', '=', id)
      .where('finishedAt', 'is', null)
      .where(isOpen)
      .returning('progress')
      .executeTakeFirst()
    if (ended === undefined) return
    await recordChange(trx, services, {
      action: 'erasures.finish',
      workspaceId,
      subject: { type: 'erasure', id },
      before: {},
      after: { state, dryRun, mode, valueHash, ...Progress.parse(JSON.parse(ended.progress)).counts },
    })
  })
}

/** Queues a job for each erasure that lost its own. */
export const sweepErasures = (services: Pick<Services, 'db' | 'clock' | 'enqueue'>): Promise<void> =>
  requeueLost(services, ERASURES, 0)
