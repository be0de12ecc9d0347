import type { Selectable } from 'kysely'
import type { AlertsTable, Db } from '../platform/db/index.ts'
import { type DataKeyRef, keyOfRow, sealedMembers } from '../platform/secrets/index.ts'
import { EVENTS, type EventKind, isEventKind, type Severity, type SubjectType } from './events.ts'
import { severityOf } from './incidents.ts'
import { wordsOf } from './texts.ts'

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

/** @throws Error when this build does not know the row's kind */
function alertOf(row: Selectable<AlertsTable>, workspaceName: string): Alert {
  const { eventKind: kind } = row
  if (!isEventKind(kind)) throw new Error(`The alert ${row.id} has the unknown kind ${kind}.`)
  return {
    ...wordsOf({ kind, subjectName: row.subjectName, count: row.count, reason: row.reason }),
    id: row.id,
    kind,
    severity: severityOf(row.severity),
    status: row.status === 'open' || row.status === 'closed' ? row.status : 'single',
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
