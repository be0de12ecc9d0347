import type { EventKind, Severity, SubjectType } from './events.ts'

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
