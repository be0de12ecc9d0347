import { raiseSingle } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import { RECONCILIATION_RUNS, RUNNING_MAX } from './declarations.ts'
import { countOutstanding, updateRun } from './queries.ts'
import { type Failure, RUN_ERRORS } from './senders/index.ts'
import type { RunRow } from './view.ts'

/**
 * Ends a run in the transaction that holds it. Its credentials and its list are erased, and events that are still
 * missing are counted. `reconcile.gap` is raised if any were missing.
 *
 * @param row present row of the run
 * @param failure null for a run that is done
 * @returns the row of the ended run
 */
export async function finishRun(
  services: Pick<Services, 'clock' | 'enqueue'>,
  trx: Trx,
  row: RunRow,
  failure: Failure | null,
): Promise<RunRow> {
  const outstanding = await countOutstanding(trx, row, ['missing', 'asked', 'refused'])
  const ended = await updateRun(trx, row.id, {
    state: failure === null ? 'done' : 'failed',
    credentials: null,
    nextCursor: null,
    leaseId: null,
    outstandingCount: outstanding,
    errorCode: failure?.code ?? null,
    errorDetail: failure === null ? null : `${RUN_ERRORS[failure.code]} ${failure.detail}`.trim(),
    finishedAt: services.clock.now(),
  })
  await trx.deleteFrom('reconciliationEvents').where('reconciliationId', '=', row.id).execute()
  await wakeQueued(services, trx, row.workspaceId)
  if (row.missingCount > 0) await raiseGap(services, trx, row, outstanding)
  return ended
}

/** Queues jobs for the oldest queued runs of a workspace, for which there is room now. Each checks whether it may begin. */
async function wakeQueued(
  { enqueue }: Pick<Services, 'enqueue'>,
  trx: Trx,
  workspaceId: string,
): Promise<void> {
  const ofWorkspace = trx.selectFrom('reconciliations').where('workspaceId', '=', workspaceId)
  const queued = await ofWorkspace
    .where('state', '=', 'queued')
    .where('endpointId', 'not in', ofWorkspace.where('state', '=', 'running').select('endpointId'))
    .select('id as reconciliationId')
    .orderBy('createdAt')
    .limit(RUNNING_MAX)
    .execute()
  await enqueue(
    trx,
    RECONCILIATION_RUNS,
    queued.map((payload) => ({ payload })),
  )
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
