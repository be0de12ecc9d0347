import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import { claimRun as claim, type HeldRun, lockRun, renewRun } from '../runs/index.ts'
import { RECONCILIATIONS, RUNNING_MAX } from './declarations.ts'

import { countRunning } from './queries.ts'
import type { RunRow } from './view.ts'

/** One job's hold on a run. */
export type Lease = HeldRun & Pick<RunRow, 'workspaceId'>

/** Thrown when another job holds the run, or it has ended: the transaction must not write. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** Claims a run for one job. An endpoint has one run at a time, a workspace {@link RUNNING_MAX}. */
export async function claimRun(
  services: Pick<Services, 'db' | 'clock' | 'enqueue'>,
  id: string,
): Promise<Lease | undefined> {
  return await services.db.transaction().execute(async (trx) => {
    const known = await trx
      .selectFrom('reconciliations')
      .where('id', '=', id)
      .select(['id', 'workspaceId'])
      .executeTakeFirst()
    if (known === undefined) return undefined
    return await claim(services, trx, RECONCILIATIONS, known, async (row: RunRow) => {
      const others = await countRunning(trx, row)
      return others.ofEndpoint === 0 && others.ofWorkspace < RUNNING_MAX
    })
  })
}

/**
 * Locks the run for a transaction of its holder, and extends the lease.
 *
 * @throws LeaseLost
 */
export async function holdRun(trx: Trx, { clock }: Pick<Services, 'clock'>, lease: Lease): Promise<RunRow> {
  const row = await lockRun<RunRow>(trx, RECONCILIATIONS, lease.id)
  if (row === undefined || row.leaseId !== lease.leaseId || row.finishedAt !== null) throw new LeaseLost()
  await renewRun({ db: trx, clock }, RECONCILIATIONS, lease)
  return row
}
