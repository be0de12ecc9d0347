/** Severities, ascending. */
export const SEVERITIES = ['info', 'warning', 'error', 'critical'] as const

/** One of {@link SEVERITIES}. */
export type Severity = (typeof SEVERITIES)[number]

/** The kind of object that an alert is about: the type of `subjectId`. */
export type SubjectType = 'action' | 'rule' | 'watchdog' | 'endpoint' | 'channel'

interface EventSpec {
  readonly displayName: string
  readonly description: string
  /** A closing event has the severity of its incident instead; this is that incident's default. */
  readonly defaultSeverity: Severity
  readonly subjectType: SubjectType
  /** Whether a channel can subscribe to it; `events` lists only these. */
  readonly subscribable: boolean
  /** Opens an incident, closes one (see `CLOSED_BY`), or belongs to none. */
  readonly role: 'opens' | 'closes' | 'single'
}

/** Every kind of event, in the order of lists. */
export const EVENTS = {
  'delivery.parked': {
    displayName: 'Dead letters',
    description:
      'A delivery to an action ran out of retries. One alert per action per outage, with a running count.',
    defaultSeverity: 'error',
    subjectType: 'action',
    subscribable: true,
    role: 'opens',
  },
  'delivery.recovered': {
    displayName: 'Deliveries recovered',
    description: 'A delivery to the action succeeded again: closes the incident of its dead letters.',
    defaultSeverity: 'error',
    subjectType: 'action',
    subscribable: true,
    role: 'closes',
  },
  'delivery.failing': {
    displayName: 'Deliveries fail',
    description:
      'For ten minutes no attempt of the action has succeeded, and at least five have failed. One alert per outage.',
    defaultSeverity: 'error',
    subjectType: 'action',
    subscribable: true,
    role: 'opens',
  },
  'delivery.working': {
    displayName: 'Deliveries work again',
    description: 'An attempt of the failing action succeeded.',
    defaultSeverity: 'error',
    subjectType: 'action',
    subscribable: true,
    role: 'closes',
  },
  'action.paused': {
    displayName: 'Action paused',
    description: 'The receiver of an action answered 410 Gone, and the action is set to pause then.',
    defaultSeverity: 'error',
    subjectType: 'action',
    subscribable: true,
    role: 'single',
  },
  'certificate.expiring': {
    displayName: 'Certificate expiring',
    description: 'A certificate of an action ends within 14 days. One alert until it is replaced.',
    defaultSeverity: 'warning',
    subjectType: 'action',
    subscribable: true,
    role: 'opens',
  },
  'certificate.renewed': {
    displayName: 'Certificate renewed',
    description: 'The certificate of the action was replaced by one that lasts: closes the alert.',
    defaultSeverity: 'warning',
    subjectType: 'action',
    subscribable: true,
    role: 'closes',
  },
  'delivery.held': {
    displayName: 'Ordered deliveries held',
    description:
      'A dead letter stops the deliveries of its key, because the order of the action says so. A replay or a skip frees the key.',
    defaultSeverity: 'error',
    subjectType: 'action',
    subscribable: true,
    role: 'opens',
  },
  'delivery.released': {
    displayName: 'Ordered deliveries released',
    description: 'No key of the action is held any more.',
    defaultSeverity: 'error',
    subjectType: 'action',
    subscribable: true,
    role: 'closes',
  },
  'delivery.backlog': {
    displayName: 'Delivery backlog too old',
    description: 'The oldest delivery that waits for the action is older than its `backlogAlertSeconds`.',
    defaultSeverity: 'warning',
    subjectType: 'action',
    subscribable: true,
    role: 'opens',
  },
  'delivery.drained': {
    displayName: 'Delivery backlog recovered',
    description: 'No delivery of the action waits for longer than its `backlogAlertSeconds` any more.',
    defaultSeverity: 'warning',
    subjectType: 'action',
    subscribable: true,
    role: 'closes',
  },
  'breaker.opened': {
    displayName: 'Circuit breaker opened',
    description: 'Too many attempts of the action failed: only probes go out until one succeeds.',
    defaultSeverity: 'error',
    subjectType: 'action',
    subscribable: true,
    role: 'opens',
  },
  'breaker.closed': {
    displayName: 'Circuit breaker closed',
    description: 'An attempt of the action succeeded again: what waited goes out.',
    defaultSeverity: 'error',
    subjectType: 'action',
    subscribable: true,
    role: 'closes',
  },
  'answer.unavailable': {
    displayName: 'Relayed answer unavailable',
    description:
      'The action that answers the senders of an endpoint is gone or switched off: the fallback answers.',
    defaultSeverity: 'error',
    subjectType: 'endpoint',
    subscribable: true,
    role: 'opens',
  },
  'answer.available': {
    displayName: 'Relayed answer available',
    description: 'The action answers the senders of the endpoint again.',
    defaultSeverity: 'error',
    subjectType: 'endpoint',
    subscribable: true,
    role: 'closes',
  },
  'transformation.disabled': {
    displayName: 'Transformation rule switched off',
    description: 'The service switched a rule off after repeated faults.',
    defaultSeverity: 'error',
    subjectType: 'rule',
    subscribable: true,
    role: 'single',
  },
  'watchdog.alarmed': {
    displayName: 'Watchdog alarmed',
    description: 'No matching capture arrived within the expected interval plus grace.',
    defaultSeverity: 'critical',
    subjectType: 'watchdog',
    subscribable: true,
    role: 'opens',
  },
  'watchdog.recovered': {
    displayName: 'Watchdog recovered',
    description: 'A matching capture arrived again: closes the alarm.',
    defaultSeverity: 'critical',
    subjectType: 'watchdog',
    subscribable: true,
    role: 'closes',
  },
  'capture.rejected': {
    displayName: 'Captures rejected',
    description: 'An endpoint answered 429 over its capture rate. At most one alert an hour, with the count.',
    defaultSeverity: 'warning',
    subjectType: 'endpoint',
    subscribable: true,
    role: 'single',
  },
  'redaction.failed': {
    displayName: 'Redaction failed',
    description:
      'A rule of `storeRules` faulted on a capture: only a trace without body and query was stored, and nothing was delivered. At most one alert an hour.',
    defaultSeverity: 'error',
    subjectType: 'endpoint',
    subscribable: true,
    role: 'single',
  },
  'reconcile.gap': {
    displayName: 'Events missing',
    description:
      "A reconciliation found events of the sender's list that were not captured. One alert per run, with the count.",
    defaultSeverity: 'warning',
    subjectType: 'endpoint',
    subscribable: true,
    role: 'single',
  },
  'action.notify': {
    displayName: 'Notify action',
    description:
      "A notify action's own message. It goes to the action's channel, whatever that subscribes to.",
    defaultSeverity: 'info',
    subjectType: 'action',
    subscribable: true,
    role: 'single',
  },
  'channel.test': {
    displayName: 'Test message',
    description: 'Sent by the test route; stands in the history only.',
    defaultSeverity: 'info',
    subjectType: 'channel',
    subscribable: false,
    role: 'single',
  },
} as const satisfies Record<string, EventSpec>

/** A kind of event: a key of {@link EVENTS}. */
export type EventKind = keyof typeof EVENTS

/** Kinds of event that open an incident, and the kind that closes each. */
export const CLOSED_BY = {
  'delivery.parked': 'delivery.recovered',
  'delivery.failing': 'delivery.working',
  'delivery.held': 'delivery.released',
  'delivery.backlog': 'delivery.drained',
  'breaker.opened': 'breaker.closed',
  'watchdog.alarmed': 'watchdog.recovered',
  'certificate.expiring': 'certificate.renewed',
  'answer.unavailable': 'answer.available',
} as const satisfies Partial<Record<EventKind, EventKind>>

/** A kind that opens an incident: a key of {@link CLOSED_BY}. */
export type OpeningKind = keyof typeof CLOSED_BY
/** A kind that closes an incident: a value of {@link CLOSED_BY}. */
export type ClosingKind = (typeof CLOSED_BY)[OpeningKind]

/** Kinds outside of incidents that the domain raises (`channel.test` is sent by its route only). */
export type SingleKind = Exclude<EventKind, OpeningKind | ClosingKind>

/** Every kind of event, in the order of {@link EVENTS}; never empty. */
export const EVENT_KINDS = Object.keys(EVENTS) as [EventKind, ...EventKind[]]

/** The kinds of event that a channel can subscribe to, in the order of {@link EVENTS}. */
export const SUBSCRIBABLE_KINDS = EVENT_KINDS.filter((kind) => EVENTS[kind].subscribable)

/** Tells whether text from outside names a kind of event. */
export const isEventKind = (text: string): text is EventKind => Object.hasOwn(EVENTS, text)

/** One subscription of a channel. */
export interface Subscription {
  readonly kind: EventKind
  readonly minSeverity: Severity
}

/** Default subscriptions of a channel: all events. */
export const EVERY_SUBSCRIPTION: readonly Subscription[] = SUBSCRIBABLE_KINDS.map((kind) => ({
  kind,
  minSeverity: 'info',
}))

/**
 * Whether a channel wants an alert: it subscribes to the kind, at this severity or a lower one.
 *
 * A closing event must have the severity of its incident. Otherwise `minSeverity` could let a page open that is never
 * closed.
 */
export function passes(
  subscriptions: readonly Subscription[],
  alert: { readonly kind: EventKind; readonly severity: Severity },
): boolean {
  return subscriptions.some(
    ({ kind, minSeverity }) =>
      kind === alert.kind && SEVERITIES.indexOf(alert.severity) >= SEVERITIES.indexOf(minSeverity),
  )
}
