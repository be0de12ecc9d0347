import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import { queue } from '../platform/queues.ts'
import { EVENTS, type EventKind, type Severity, type SingleKind } from './events.ts'
import { insertAlerts } from './queries.ts'

/** Determines the recipients of an alert in the outbox. `alerts.sweep` finds lost jobs. */
export const ALERT_FAN_OUT = queue({
  name: 'alerts.fanOut',
  payload: z.object({ alertId: z.uuid() }),
  options: { retryLimit: 5, expireInSeconds: 60, heartbeatSeconds: 10 },
})

export type RaiseServices = Pick<Services, 'clock' | 'enqueue'>

export interface Named {
  readonly id: string
  readonly name: string
}

/** Facts about the cause of an alert. */
export interface Occasion {
  readonly workspaceId: string
  /** The action, rule, watchdog or endpoint: `subjectId` and `subjectName`. */
  readonly subject: Named
  readonly endpoint: Named | null
  readonly requestId: number | null
  /**
   * Text about the cause: a dead letter's last error (`http_503`), a sentence about a rule or watchdog, a notify
   * action's rendered message. Null for none.
   */
  readonly reason: string | null
}

/** An alert outside of incidents. */
export interface SingleAlert extends Occasion {
  readonly kind: Exclude<SingleKind, 'action.notify' | 'channel.test'>
  /** Number of occurrences behind it. Default 1. */
  readonly count?: number
}

/**
 * Raises an alert outside of incidents: `transformation.disabled`, `capture.rejected`.
 *
 * It exists if and only if the transaction commits; jobs determine its recipients and send it.
 */
export async function raiseSingle(services: RaiseServices, trx: Trx, alert: SingleAlert): Promise<void> {
  await raiseAlert(services, trx, {
    ...alert,
    severity: EVENTS[alert.kind].defaultSeverity,
    status: 'single',
    count: alert.count ?? 1,
  })
}

/** A complete alert of the outbox. */
export interface Raised extends Occasion {
  readonly kind: EventKind
  readonly severity: Severity
  readonly status: 'open' | 'closed' | 'single'
  readonly count: number
  readonly incident?: { readonly id: string; readonly openedAt: Date; readonly closedAt: Date | null }
  readonly attemptId?: number
  readonly contactIds?: readonly string[] | undefined
}

/** Writes the alert to the outbox and queues its fan-out, both in the caller's transaction. */
export async function raiseAlert(services: RaiseServices, trx: Trx, alert: Raised): Promise<void> {
  const id = randomUUID()
  await insertAlerts(trx, { ...outboxRow(alert), id, occurredAt: services.clock.now() })
  await services.enqueue(trx, ALERT_FAN_OUT, [{ payload: { alertId: id } }])
}

/** The row of an alert that its writer sends: it has no fan-out. */
export function ownAlert(
  kind: Exclude<SingleKind, SingleAlert['kind']>,
  occasion: Occasion & Pick<Raised, 'attemptId'>,
  now: Date,
) {
  const severity = EVENTS[kind].defaultSeverity
  const row = outboxRow({ ...occasion, kind, severity, status: 'single', count: 1 })
  return { ...row, id: randomUUID(), occurredAt: now, fannedOutAt: now }
}

/** The row of an alert, without its id and time. */
function outboxRow(alert: Raised) {
  const { incident } = alert
  return {
    workspaceId: alert.workspaceId,
    eventKind: alert.kind,
    severity: alert.severity,
    status: alert.status,
    incidentId: incident?.id ?? null,
    subjectType: EVENTS[alert.kind].subjectType,
    subjectId: alert.subject.id,
    subjectName: alert.subject.name,
    endpointId: alert.endpoint?.id ?? null,
    endpointName: alert.endpoint?.name ?? null,
    requestId: alert.requestId,
    count: alert.count,
    reason: alert.reason,
    openedAt: incident?.openedAt ?? null,
    closedAt: incident?.closedAt ?? null,
    attemptId: alert.attemptId ?? null,
    contactIds: JSON.stringify(alert.contactIds ?? []),
  }
}
