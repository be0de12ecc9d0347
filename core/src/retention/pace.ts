import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Services } from '../api/services.ts'
import type { Db, Trx } from '../platform/db/index.ts'

export type SweepServices = Pick<Services, 'db' | 'clock' | 'plans' | 'enqueue'>

/** Rows that one transaction of a sweep deletes. It takes few milliseconds, because captures wait for its locks. */
export const BATCH_ROWS = 200

const REST_MS = { min: 2, max: 500 } as const

/**
 * Runs a sweep's batches until one finds nothing more. After each it pauses twice as long as the batch took, so that a
 * sweep uses at most a third of the time. Stopping between two batches loses nothing.
 *
 * @param batch one short transaction; returns whether there is more
 */
export async function inBatches(signal: AbortSignal, batch: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted) {
    const started = performance.now()
    if (!(await batch())) return
    const took = performance.now() - started
    await setTimeout(Math.min(Math.max(2 * took, REST_MS.min), REST_MS.max))
  }
}

/**
 * Runs a batch's transaction. It does not wait for the disk while it holds its locks: a batch that a crash undoes is
 * found again by the next sweep.
 */
export async function sweepTransaction<Result>(db: Db, work: (trx: Trx) => Promise<Result>): Promise<Result> {
  return await db.transaction().execute(async (trx) => {
    await sql`set local synchronous_commit = off`.execute(trx)
    return await work(trx)
  })
}
