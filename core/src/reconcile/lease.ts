import { randomUUID } from 'node:crypto'
import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'
import { LEASE_MS, RUNNING_MAX } from './bounds.ts'
import { RECONCILIATION_RUNS } from './jobs.ts'
import { countRunning, lockRun, updateRun } from './queries.ts'
import type { RunRow } from './view.ts'

/** One job's hold on a run. */
export interface Lease {
  readonly id: string
  readonly leaseId: string
}

/** Thrown when another job holds the run, or it has ended: the transaction must not write. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

type LeaseServices = Pick<Services, 'db' | 'clock' | 'enqueue'>

/**
 * Claims a run for one job. An endpoint has one run at a time, a workspace {@link RUNNING_MAX}. A run that must wait is
 * woken by one that ends.
 *
 * @returns undefined when there is nothing to do now
 */
export async function claimRun(
  { db, clock, enqueue }: LeaseServices,
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
    if (row === undefined || !isUnfinished(row)) return undefined
    const now = clock.now()
    if (row.leaseId !== null && row.dueAt > now) {
      await enqueue(trx, RECONCILIATION_RUNS, [{ payload: { reconciliationId: id }, startAfter: row.dueAt }])
      return undefined
    }
    if (row.state === 'queued') {
      const others = await countRunning(trx, row)
      // The run that ends wakes those that wait.
      if (others.ofEndpoint > 0 || others.ofWorkspace >= RUNNING_MAX) return undefined
    }
    const leaseId = randomUUID()
    await updateRun(trx, id, {
      state: 'running',
      startedAt: row.startedAt ?? now,
      leaseId,
      dueAt: new Date(now.getTime() + LEASE_MS),
    })
    return { id, leaseId }
  })
}

/**
 * Locks the run for a transaction of its holder, and extends the lease.
 *
 * @throws LeaseLost
 */
export async function holdRun(
  trx: Trx,
  { clock }: Pick<Services, 'clock'>,
  { id, leaseId }: Lease,
): Promise<RunRow> {
  const row = await lockRun(trx, id)
  if (row === undefined || row.leaseId !== leaseId || !isUnfinished(row)) throw new LeaseLost()
  await updateRun(trx, id, { dueAt: new Date(clock.now().getTime() + LEASE_MS) })
  return row
}

/**
 * Releases the run and queues its next job.
 *
 * @throws LeaseLost
 */
export async function releaseRun(services: LeaseServices, lease: Lease, waitMs: number): Promise<void> {
  await services.db.transaction().execute(async (trx) => {
    await holdRun(trx, services, lease)
    const dueAt = new Date(services.clock.now().getTime() + waitMs)
    await updateRun(trx, lease.id, { leaseId: null, dueAt })
    const job = { payload: { reconciliationId: lease.id } }
    await services.enqueue(trx, RECONCILIATION_RUNS, [waitMs > 0 ? { ...job, startAfter: dueAt } : job])
  })
}

const isUnfinished = ({ state }: RunRow) => state === 'queued' || state === 'running'
