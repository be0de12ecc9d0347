import { randomUUID } from 'node:crypto'
import type { Trx } from '../platform/db/index.ts'
import { CLOSED_BY, EVENTS, type OpeningKind } from './events.ts'
import { closeOpen, closeOpenOf, openOrCount } from './queries.ts'
import { type Occasion, type RaiseServices, raiseAlert } from './raise.ts'

export interface Cause extends Occasion {
  readonly kind: OpeningKind
  /** Number of causes, e.g. dead letters of one batch. Default 1. */
  readonly count?: number
  /** A watchdog's own contacts, who are notified in addition to the channels. */
  readonly contactIds?: readonly string[]
}

/**
 * Opens an incident and raises its alert. While it is open, further causes only increase its count: one alert per
 * subject per outage.
 */
export async function openIncident(services: RaiseServices, trx: Trx, cause: Cause): Promise<void> {
  const now = services.clock.now()
  const { defaultSeverity: severity, subjectType } = EVENTS[cause.kind]
  const { id, opened, count } = await openOrCount(trx, {
    id: randomUUID(),
    workspaceId: cause.workspaceId,
    kind: cause.kind,
    severity,
    subjectType,
    subjectId: cause.subject.id,
    subjectName: cause.subject.name,
    endpointId: cause.endpoint?.id ?? null,
    endpointName: cause.endpoint?.name ?? null,
    count: cause.count ?? 1,
    reason: cause.reason,
    openedAt: now,
  })
  if (!opened) return
  const incident = { id, openedAt: now, closedAt: null }
  await raiseAlert(services, trx, { ...cause, severity, status: 'open', count, incident })
}

interface Recovery {
  readonly kind: OpeningKind
  /** Recovered subjects; those without an open incident are skipped. */
  readonly subjectIds: readonly string[]
  /** Text for the closing alert, in addition to the count. */
  readonly reason?: string
  readonly requestId?: number
  readonly contactIds?: readonly string[]
}

/**
 * Closes the open incidents of some subjects and raises the closing alert of each, with the severity of its incident
 * and the final count. One statement if none is open, so it may be called after every success.
 *
 * @returns the number of closed incidents
 */
export async function closeIncidents(services: RaiseServices, trx: Trx, recovery: Recovery): Promise<number> {
  if (recovery.subjectIds.length === 0) return 0
  const closed = await closeOpen(trx, [recovery.kind], recovery.subjectIds, services.clock.now())
  for (const incident of closed) {
    await raiseAlert(services, trx, {
      workspaceId: incident.workspaceId,
      kind: CLOSED_BY[recovery.kind],
      severity: incident.severity,
      status: 'closed',
      subject: { id: incident.subjectId, name: incident.subjectName },
      endpoint:
        incident.endpointId === null ? null : { id: incident.endpointId, name: incident.endpointName ?? '' },
      requestId: recovery.requestId ?? null,
      reason: recovery.reason ?? null,
      count: incident.count,
      incident: { id: incident.id, openedAt: incident.openedAt, closedAt: incident.closedAt },
      contactIds: recovery.contactIds,
    })
  }
  return closed.length
}

/** Closes incidents without an alert, because their subject was deleted or paused and cannot recover. */
export async function closeIncidentsSilently(
  services: RaiseServices,
  trx: Trx,
  kind: OpeningKind | readonly OpeningKind[],
  subjectIds: readonly string[],
): Promise<void> {
  if (subjectIds.length > 0) await closeOpen(trx, [kind].flat(), subjectIds, services.clock.now())
}

/** Closes all incidents of endpoints that were deleted, without an alert. */
export async function closeIncidentsOfEndpoints(
  services: Pick<RaiseServices, 'clock'>,
  trx: Trx,
  endpointIds: readonly string[],
): Promise<void> {
  if (endpointIds.length > 0) await closeOpenOf(trx, endpointIds, services.clock.now())
}
