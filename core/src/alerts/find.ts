import type { Selectable } from 'kysely'
import type { AlertsTable, Db } from '../platform/db/index.ts'
import { type DataKeyRef, keyOfRow, sealedMembers } from '../platform/secrets/index.ts'
import { EVENTS, type EventKind, type Severity, type SubjectType } from './events.ts'
import type { Raised } from './raise.ts'

/** One alert, in the form that channels and contacts get. */
export interface Alert {
  /** Unique, and the same on every attempt, so that receivers can deduplicate. */
  readonly id: string
  readonly kind: EventKind
  readonly severity: Severity
  readonly status: 'open' | 'closed' | 'single'
  /** Shared by the opening and the closing event; null for a single one. */
  readonly incidentId: string | null
  /** One line of plain text. */
  readonly title: string
  /** Plain text, except for `action.notify`: there it is a rendered template, already in the channel's markup. */
  readonly message: string
  readonly subject: { readonly type: SubjectType; readonly id: string; readonly name: string }
  readonly endpoint: { readonly id: string; readonly name: string } | null
  readonly requestId: number | null
  /** Number of deliveries, captures… behind it; for an open incident, up to now. */
  readonly count: number
  readonly openedAt: Date | null
  readonly closedAt: Date | null
  readonly occurredAt: Date
  readonly workspaceName: string
  readonly isTest: boolean
}

/** Whether the message is already in the channel's markup, so that a kind must not escape it again. */
export const isMarkup = (alert: Alert): boolean => alert.kind === 'action.notify'

/**
 * An alert of the outbox with its texts, as of now: for an open incident with the running count and the latest reason.
 * Undefined if it was pruned.
 *
 * @returns `attemptId`: the attempt row that gets the result of a notify action's message; `sealing`: the key that
 *   seals the message
 */
export async function findAlert(
  db: Db,
  id: string,
): Promise<{ alert: Alert; attemptId: number | null; sealing: DataKeyRef | null } | undefined> {
  const row = await db
    .selectFrom('alerts as a')
    .innerJoin('workspaces as w', 'w.id', 'a.workspaceId')
    .leftJoin('incidents as i', (join) => join.onRef('i.id', '=', 'a.incidentId').on('a.status', '=', 'open'))
    .selectAll('a')
    .select(sealedMembers('a'))
    .select(['w.name as workspaceName', 'i.count as runningCount', 'i.reason as latestReason'])
    .where('a.id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const current = { ...row, count: row.runningCount ?? row.count, reason: row.latestReason ?? row.reason }
  return { alert: alertOf(current, row.workspaceName), attemptId: row.attemptId, sealing: keyOfRow(row) }
}

function alertOf(row: Selectable<AlertsTable>, workspaceName: string): Alert {
  const { eventKind: kind } = row
  return {
    ...wordsOf({ ...row, kind }),
    id: row.id,
    kind,
    severity: row.severity,
    status: row.status,
    incidentId: row.incidentId,
    subject: { type: EVENTS[kind].subjectType, id: row.subjectId, name: row.subjectName },
    endpoint: row.endpointId === null ? null : { id: row.endpointId, name: row.endpointName ?? '' },
    requestId: row.requestId,
    count: row.count,
    openedAt: row.openedAt,
    closedAt: row.closedAt,
    occurredAt: row.occurredAt,
    workspaceName,
    isTest: kind === 'channel.test',
  }
}

/** Input of an alert's texts. */
type Cause = Pick<Raised, 'kind' | 'count' | 'reason'> & { readonly subjectName: string }

const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`

const TITLES: { readonly [Kind in EventKind]: (name: string) => string } = {
  'delivery.parked': (name) => `Deliveries to ${name} are dead letters`,
  'delivery.recovered': (name) => `Deliveries to ${name} succeed again`,
  'delivery.failing': (name) => `Deliveries to ${name} fail`,
  'delivery.working': (name) => `Deliveries to ${name} work again`,
  'action.paused': (name) => `Action ${name} is paused`,
  'certificate.expiring': (name) => `A certificate of ${name} expires`,
  'certificate.renewed': (name) => `The certificate of ${name} was renewed`,
  'delivery.held': (name) => `Ordered deliveries to ${name} are held`,
  'delivery.released': (name) => `Ordered deliveries to ${name} continue`,
  'delivery.backlog': (name) => `The delivery backlog of ${name} is too old`,
  'delivery.drained': (name) => `The delivery backlog of ${name} has recovered`,
  'breaker.opened': (name) => `The circuit breaker of ${name} is open`,
  'breaker.closed': (name) => `The circuit breaker of ${name} is closed`,
  'answer.unavailable': (name) => `Senders of ${name} get the fallback answer`,
  'answer.available': (name) => `Senders of ${name} get the receiver’s answer again`,
  'transformation.disabled': (name) => `Rule ${name} was switched off`,
  'watchdog.alarmed': (name) => `Watchdog ${name} is alarmed`,
  'watchdog.recovered': (name) => `Watchdog ${name} recovered`,
  'capture.rejected': (name) => `Endpoint ${name} rejects captures`,
  'redaction.failed': (name) => `Endpoint ${name} could not redact a capture`,
  'reconcile.gap': (name) => `Endpoint ${name} missed events`,
  'action.notify': (name) => name,
  'channel.test': (name) => `Test message for ${name}`,
}

/** Why a dead letter ended before its retries, by the reason of its incident. */
const ENDED_EARLY: Readonly<Record<string, string>> = {
  gone: 'the receiver answered 410 Gone',
  evicted: 'its request was evicted at the limit of the plan',
  retention: 'the retention of its request ended first',
}

const MESSAGES: { readonly [Kind in EventKind]: (cause: Cause) => string } = {
  'delivery.parked': ({ count, reason }) => {
    const early = ENDED_EARLY[reason ?? '']
    // Earlier deliveries of the incident may have ended otherwise.
    if (early !== undefined)
      return `${counted(count, 'delivery ended', 'deliveries became dead letters; the last')} because ${early}.`
    return `${counted(count, 'delivery', 'deliveries')} ran out of retries${reason === null ? '' : `; last error ${reason}`}.`
  },
  'delivery.recovered': ({ count }) =>
    `A delivery succeeded. ${counted(count, 'delivery became a dead letter', 'deliveries became dead letters')} before and can be replayed.`,
  'delivery.failing': ({ count, reason }) =>
    `${counted(count, 'attempt', 'attempts')} failed${reason === null ? '.' : `. ${reason}`} Retries go on.`,
  'delivery.working': () => 'An attempt succeeded.',
  'action.paused': ({ reason }) => reason ?? 'Deliveries of this action wait until it is resumed.',
  'certificate.expiring': ({ reason }) => reason ?? 'A certificate ends within 14 days.',
  'certificate.renewed': ({ reason }) => reason ?? 'Its certificates last for more than 14 days.',
  'delivery.held': ({ count, reason }) =>
    `${counted(count, 'dead letter stops', 'dead letters stop')} the deliveries of ${count === 1 ? 'its key' : 'their keys'}${reason === null ? '' : `: ${reason}`}. Replay or skip them to continue.`,
  'delivery.released': () => 'No key is held any more.',
  'delivery.backlog': ({ reason }) =>
    reason ?? 'The oldest delivery has waited longer than the action allows.',
  'delivery.drained': () => 'The oldest delivery has waited no longer than the action allows.',
  'breaker.opened': ({ reason }) =>
    `Too many attempts failed${reason === null ? '' : `; last error ${reason}`}. Only probes are sent until one succeeds.`,
  'breaker.closed': () => 'An attempt succeeded. Waiting deliveries are sent, a few at first.',
  'answer.unavailable': ({ reason }) =>
    reason ?? 'The action that answers the senders is gone or switched off.',
  'answer.available': () => 'The action answers the senders again.',
  'transformation.disabled': ({ reason }) => reason ?? 'The rule failed on several deliveries in a row.',
  'watchdog.alarmed': ({ reason }) => reason ?? 'No matching capture arrived in time.',
  'watchdog.recovered': ({ reason }) => reason ?? 'A matching capture arrived again.',
  'capture.rejected': ({ count }) =>
    `${counted(count, 'capture was', 'captures were')} answered 429 because the endpoint is over its capture rate.`,
  'redaction.failed': ({ reason }) =>
    `Only a trace was stored, and nothing was delivered${reason === null ? '' : `: ${reason}`}.`,
  'reconcile.gap': ({ count, reason }) =>
    reason ?? `${counted(count, 'event', 'events')} of the sender's list were not captured.`,
  'action.notify': ({ reason }) => reason ?? '',
  'channel.test': () => 'If you can read this, alerts reach this channel.',
}

/** The texts of an alert, by kind and running count. Plain text, except for a notify action's message. */
export function wordsOf(cause: Cause): { title: string; message: string } {
  return { title: TITLES[cause.kind](cause.subjectName), message: MESSAGES[cause.kind](cause) }
}
