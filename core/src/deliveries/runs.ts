import { closeIncidentsSilently, openIncident } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import type { DueTry } from './dueTries.ts'
import {
  announceDeliveries,
  findOpenRuns,
  insertAttempts,
  type OpenRun,
  type RunsOf,
  removeDeliveries,
  removeRunsOfActions,
} from './queries.ts'

type RunServices = Pick<Services, 'clock' | 'enqueue'>

/**
 * Queues the waiting runs of actions that were just switched on, or are no longer suspended (CONTRACT §8, row
 * 13). Runs whose next try is not due yet still have their job. Safe to call for actions that were on.
 */
export async function resumeDeliveries(
  services: RunServices,
  trx: Trx,
  actionIds: readonly string[],
): Promise<void> {
  if (actionIds.length === 0) return
  const now = services.clock.now()
  const runs = await findOpenRuns(trx, { actionIds })
  const due = runs.filter((run) => run.nextAttemptAt <= now)
  await services.enqueue(trx, 'deliveries.attempt', due.map(nextJob))
}

/** Puts tries off that found no slot: the same tries, due later. Nothing is written in their deliveries. */
export async function postponeAttempts(
  services: Pick<Services, 'clock' | 'enqueue' | 'db'>,
  late: readonly { readonly due: DueTry; readonly afterMs: number }[],
): Promise<void> {
  const now = services.clock.now().getTime()
  const jobs = late.map(({ due, afterMs }) => ({ payload: due, startAfter: new Date(now + afterMs) }))
  await services.db.transaction().execute((trx) => services.enqueue(trx, 'deliveries.attempt', jobs))
}

/** The job of a run's next try, due at once. */
export function nextJob(run: OpenRun) {
  const { id, attemptCount, actionId, bodyBytes } = run
  return { payload: { deliveryId: id, attempt: attemptCount + 1, actionId, bodyBytes } }
}

/**
 * Drops what is queued for actions that are being deleted, with their parked runs, and closes their incidents
 * without a word (CONTRACT §8, row 12). A send that is under way ends as it ends.
 */
export async function dropDeliveries(
  services: RunServices,
  trx: Trx,
  actionIds: readonly string[],
): Promise<void> {
  if (actionIds.length === 0) return
  await removeRunsOfActions(trx, actionIds)
  await closeIncidentsSilently(services, trx, { kind: 'delivery.parked', subjectIds: actionIds })
}

/**
 * Ends open runs whose request must go now: one row `DeadLetter` each, with the reason (CONTRACT R20, R40).
 * Nothing is left to replay, so the runs do not stay parked; their incidents open or count all the same.
 */
export async function endDeliveries(
  services: RunServices,
  trx: Trx,
  of: RunsOf,
  error: 'evicted' | 'retention',
): Promise<void> {
  const runs = await findOpenRuns(trx, of)
  if (runs.length === 0) return
  const now = services.clock.now()
  await insertAttempts(
    trx,
    runs.map((run) => ({
      endpointId: run.endpointId,
      deliveryId: run.id,
      workspaceId: run.workspaceId,
      requestId: run.requestId,
      actionId: run.actionId,
      actionName: run.actionName,
      kind: run.kind,
      state: 'DeadLetter',
      attemptNumber: run.attemptCount + 1,
      trigger: run.attemptCount === 0 ? run.trigger : 'retry',
      error,
      url: run.url ?? '',
      at: now,
      finishedAt: now,
      durationMs: 0,
      leaseUntil: null,
    })),
  )
  await removeDeliveries(
    trx,
    runs.map(({ id }) => id),
  )
  await openParked(services, trx, runs, error)
  await announceDeliveries(
    trx,
    runs.map(({ endpointId }) => endpointId),
  )
}

/** Opens or counts the parked incident of each action. */
export async function openParked(
  services: RunServices,
  trx: Trx,
  runs: readonly OpenRun[],
  reason: string,
): Promise<void> {
  for (const group of Map.groupBy(runs, ({ actionId }) => actionId).values()) {
    const last = group.at(-1)
    if (last === undefined) continue
    await openIncident(services, trx, {
      kind: 'delivery.parked',
      workspaceId: last.workspaceId,
      subject: { id: last.actionId, name: last.actionName },
      endpoint: { id: last.endpointId, name: last.endpointName },
      requestId: last.requestId,
      reason,
      count: group.length,
    })
  }
}
