import { randomUUID } from 'node:crypto'
import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'
import { LEASE_MS, RECONCILIATION_RUNS, RUNNING_MAX } from './declarations.ts'
import { endpointsOfRunning, lockRun, updateRun } from './queries.ts'
import type { RunRow } from './view.ts'

/** One job's hold on a run. */
export interface Lease extends Pick<RunRow, 'id' | 'workspaceId'> {
  readonly leaseId: string
}

/** Thrown when another job holds the run, or it has ended: the transaction must not write. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/**
 * Claims a run for one job. An endpoint has one run at a time, a workspace {@link RUNNING_MAX}; one that may not begin
 * yet is woken by a run that ends.
 *
 * @returns undefined when there is nothing to do now
 */
export async function claimRun(
  { db, clock, enqueue }: Pick<Services, 'db' | 'clock' | 'enqueue'>,
  id: string,
): Promise<Lease | undefined> {
  return await db.transaction().execute(async (trx) => {
    const known = await trx
      .selectFrom('reconciliations')
      .where('id', '=', id)
      .select('workspaceId')
      .executeTakeFirst()
    if (known === undefined) return undefined
    await lockWorkspace(trx, known.workspaceId)
    const row = await lockRun(trx, id)
    if (row === undefined || row.finishedAt !== null) return undefined
    const now = clock.now()
    if (row.leaseId !== null && row.dueAt > now) {
      const payload = { reconciliationId: id }
      await enqueue(trx, RECONCILIATION_RUNS, [{ payload, startAfter: row.dueAt }])
      return undefined
    }
    if (row.state === 'queued') {
      const running = await endpointsOfRunning(trx, known.workspaceId)
      if (running.includes(row.endpointId) || running.length >= RUNNING_MAX) return undefined
    }
    const leaseId = randomUUID()
    const startedAt = row.startedAt ?? now
    await updateRun(trx, id, { state: 'running', startedAt, leaseId, dueAt: leaseEnd(now) })
    return { ...known, id, leaseId }
  })
}

const leaseEnd = (now: Date): Date => new Date(now.getTime() + LEASE_MS)

/**
 * Locks the run for a transaction of its holder, and extends the lease.
 *
 * @throws LeaseLost
 */
export async function holdRun(trx: Trx, { clock }: Pick<Services, 'clock'>, lease: Lease): Promise<RunRow> {
  const row = await lockRun(trx, lease.id)
  if (row === undefined || row.leaseId !== lease.leaseId || row.finishedAt !== null) throw new LeaseLost()
  await updateRun(trx, lease.id, { dueAt: leaseEnd(clock.now()) })
  return row
}

/**
 * Runs one transaction of the run's holder. It locks the workspace first, as a claim does: an end that raises an alert
 * needs the workspace's row, and two transactions that lock in opposite orders wait for each other.
 *
 * @throws LeaseLost
 */
export async function whileHeld<Result>(
  { services, lease }: { readonly services: Pick<Services, 'db' | 'clock'>; readonly lease: Lease },
  change: (trx: Trx, row: RunRow) => Promise<Result>,
): Promise<Result> {
  return await services.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, lease.workspaceId)
    return await change(trx, await holdRun(trx, services, lease))
  })
}

/**
 * Releases a run, and queues its next job.
 *
 * @throws LeaseLost
 */
export async function releaseRun(
  services: Pick<Services, 'db' | 'clock' | 'enqueue'>,
  lease: Lease,
  waitMs: number,
): Promise<void> {
  await whileHeld({ services, lease }, async (trx, { id }) => {
    const dueAt = new Date(services.clock.now().getTime() + waitMs)
    await updateRun(trx, id, { leaseId: null, dueAt })
    const job = { payload: { reconciliationId: id } }
    await services.enqueue(trx, RECONCILIATION_RUNS, [waitMs > 0 ? { ...job, startAfter: dueAt } : job])
  })
}
