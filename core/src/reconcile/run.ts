import { sql } from 'kysely'
import { isSealed, SEALED_MS } from '../api/seal.ts'
import type { Services } from '../api/services.ts'
import { hashWith } from '../engine/storing/index.ts'
import { isDatabaseOutage, isDeadlock, isWorthAnotherLease } from '../platform/db/index.ts'
import { restFor } from '../platform/time/index.ts'
import { requeueLost } from '../runs/index.ts'
import { openHashKey } from '../workspaces/index.ts'
import {
  LOST_AFTER_MS,
  PAUSE_MS,
  RECONCILIATIONS,
  reconciledEvents,
  reconciliations,
  SLICE_MS,
} from './declarations.ts'
import { claimRun, type Lease, LeaseLost, releaseRun } from './lease.ts'
import { SenderCredentials, senderWith } from './senders/index.ts'
import { end, type Next, takeStep } from './steps.ts'
import type { RunRow } from './view.ts'

/**
 * Works on a run for {@link SLICE_MS}, and queues the job that continues it. Safe to run twice and to be interrupted
 * anywhere: the effect of a step is stored with the progress of the run.
 *
 * @throws errors of an unreachable database
 */
export async function runReconciliation(
  services: Services,
  { reconciliationId }: { readonly reconciliationId: string },
  signal: AbortSignal,
): Promise<void> {
  const lease = await claimRun(services, reconciliationId)
  if (lease === undefined) return
  try {
    const next = await workOn(services, lease, signal)
    if (next.after === 'ended') count(next.row)
    else await releaseRun(services, lease, next.milliseconds)
  } catch (error) {
    if (error instanceof LeaseLost) return
    if (isDatabaseOutage(error)) throw error
    if (isWorthAnotherLease(error)) {
      services.log.warn({ err: error, reconciliationId }, 'a reconciliation goes on when its lease has ended')
      return
    }
    services.log.error({ err: error, reconciliationId }, 'a reconciliation failed')
    count((await end({ services, lease }, { code: 'internal_error', detail: '' })).row)
  }
}

async function workOn(services: Services, lease: Lease, signal: AbortSignal): Promise<Next> {
  const endsAt = performance.now() + SLICE_MS
  for (;;) {
    const next = await step(services, lease).catch((error: unknown): Next => {
      // Nothing of the step is stored. It succeeds when it is taken again.
      if (!isDeadlock(error)) throw error
      return { after: 'wait', milliseconds: PAUSE_MS }
    })
    if (next.after === 'ended' || next.milliseconds > PAUSE_MS) return next
    if (next.milliseconds > 0) await restFor(next.milliseconds)
    if (performance.now() >= endsAt || signal.aborted || services.stopping.aborted)
      return { after: 'wait', milliseconds: 0 }
  }
}

async function step(services: Services, lease: Lease): Promise<Next> {
  const row = await services.db
    .selectFrom('reconciliations as r')
    .innerJoin('endpoints as e', 'e.id', 'r.endpointId')
    .innerJoin('workspaces as w', 'w.id', 'r.workspaceId')
    .where('r.id', '=', lease.id)
    .where('e.deletedAt', 'is', null)
    .where('e.isActive', '=', true)
    .where('e.suspendedByPlan', '=', false)
    .where((where) =>
      where.or([where('e.expiresAt', 'is', null), where('e.expiresAt', '>', services.clock.now())]),
    )
    .leftJoin('workspaceKeys as k', 'k.workspaceId', 'r.workspaceId')
    .selectAll('r')
    .select(['k.hashKey', sql.raw<boolean>(isSealed('w')).as('isSealed')])
    .select((of) => of.fn.coalesce('e.captureId', 'e.id').as('captureId'))
    .executeTakeFirst()
  if (row === undefined || row.credentials === null)
    return await end({ services, lease }, { code: 'endpoint_closed', detail: '' })
  // A sealed workspace refuses captures, so what the sender sends now would be lost. The run goes on after the seal, in
  // the cell where it then is.
  if (row.isSealed) return { after: 'wait', milliseconds: SEALED_MS }
  const { workspaceId, hashKey } = row
  const credentials = SenderCredentials.parse(JSON.parse(services.secrets.open(row.credentials, workspaceId)))
  return await takeStep({
    services,
    lease,
    row,
    sender: senderWith(services, credentials),
    captureId: row.captureId,
    hash: hashKey === null ? null : hashWith(openHashKey(services.secrets, workspaceId, hashKey)),
  })
}

function count(row: RunRow): void {
  reconciliations.inc({ state: row.state === 'done' ? 'done' : 'failed' })
  reconciledEvents.inc({ result: 'missing' }, row.missingCount)
  reconciledEvents.inc({ result: 'redelivered' }, row.redeliveredCount)
  reconciledEvents.inc({ result: 'captured' }, row.capturedCount)
  reconciledEvents.inc({ result: 'refused' }, row.refusedCount)
  reconciledEvents.inc({ result: 'outstanding' }, row.outstandingCount ?? 0)
}

/** Queues a job for each run that lost its own. */
export const sweepReconciliations = (services: Pick<Services, 'db' | 'clock' | 'enqueue'>): Promise<void> =>
  requeueLost(services, RECONCILIATIONS, LOST_AFTER_MS)
