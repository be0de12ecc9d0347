import { sql } from 'kysely'
import { raiseSingle } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import { wakeQueued } from '../runs/index.ts'
import { RECONCILIATIONS, RUNNING_MAX } from './declarations.ts'

import { countOutstanding, dropEvents, updateRun } from './queries.ts'
import { type Failure, RUN_ERRORS } from './senders/index.ts'
import type { RunRow } from './view.ts'

/**
 * Ends a run in the transaction that holds it. Its credentials and its list are erased, and events that are still
 * missing are counted. `reconcile.gap` is raised if any were missing.
 *
 * @param row present row of the run
 * @param failure null for a run that is done
 */
export async function finishRun(
  services: Pick<Services, 'clock' | 'enqueue'>,
  trx: Trx,
  row: RunRow,
  failure: Failure | null,
): Promise<void> {
  const outstanding = await countOutstanding(trx, row, ['missing', 'asked', 'refused'])
  await updateRun(trx, row.id, {
    state: failure === null ? 'done' : 'failed',
    credentials: null,
    nextCursor: null,
    leaseId: null,
    outstandingCount: outstanding,
    errorCode: failure?.code ?? null,
    errorDetail: failure === null ? null : `${RUN_ERRORS[failure.code]} ${failure.detail}`.trim(),
    finishedAt: services.clock.now(),
  })
  await dropEvents(trx, row.id)
  // There is room for another run. Each checks whether it may run when it is claimed.
  await wakeQueued(trx, services, RECONCILIATIONS, {
    workspaceId: row.workspaceId,
    limit: RUNNING_MAX,
    where: sql`endpoint_id not in (
      select endpoint_id from reconciliations where workspace_id = ${row.workspaceId} and state = 'running')`,
  })
  if (row.missingCount > 0) await raiseGap(services, trx, row, outstanding)
}

async function raiseGap(
  services: Pick<Services, 'clock' | 'enqueue'>,
  trx: Trx,
  row: RunRow,
  outstanding: number,
): Promise<void> {
  const endpoint = await trx
    .selectFrom('endpoints')
    .where('id', '=', row.endpointId)
    .where('deletedAt', 'is', null)
    .select(['id', 'name'])
    .executeTakeFirst()
  if (endpoint === undefined) return
  const missed = `${row.missingCount} of ${row.listedCount} events of the sender's list since ${row.since.toISOString()} were not captured.`
  const now = row.dryRun ? 'Nothing was done about it.' : `${outstanding} are still missing.`
  await raiseSingle(services, trx, {
    kind: 'reconcile.gap',
    workspaceId: row.workspaceId,
    subject: endpoint,
    endpoint,
    requestId: null,
    reason: `${missed} ${now}`,
    count: row.missingCount,
  })
}
