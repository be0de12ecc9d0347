/** Severities, ascending. */
export const SEVERITIES = ['info', 'warning', 'error', 'critical'] as const

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
}

const about = (
  subjectType: SubjectType,
  defaultSeverity: Severity,
  displayName: string,
  description: string,
): EventSpec => ({ displayName, description, defaultSeverity, subjectType, subscribable: true })

/** Every kind of event, in the order of lists. */
export const EVENTS = {
  'delivery.parked': about(
    'action',
    'error',
    'Dead letters',
    'A delivery to an action ran out of retries. One alert per action per outage, with a running count.',
  ),
  'delivery.recovered': about(
    'action',
    'error',
    'Deliveries recovered',
    'A delivery to the action succeeded again: closes the incident of its dead letters.',
  ),
  'delivery.failing': about(
    'action',
    'error',
    'Deliveries fail',
    'For ten minutes no attempt of the action has succeeded, and at least five have failed. One alert per outage.',
  ),
  'delivery.working': about(
    'action',
    'error',
    'Deliveries work again',
    'An attempt of the failing action succeeded.',
  ),
  'action.paused': about(
    'action',
    'error',
    'Action paused',
    'The receiver of an action answered 410 Gone, and the action is set to pause then.',
  ),
  'certificate.expiring': about(
    'action',
    'warning',
    'Certificate expiring',
    'A certificate of an action ends within 14 days. One alert until it is replaced.',
  ),
  'certificate.renewed': about(
    'action',
    'warning',
    'Certificate renewed',
    'The certificate of the action was replaced by one that lasts: closes the alert.',
  ),
  'delivery.held': about(
    'action',
    'error',
    'Ordered deliveries held',
    'A dead letter stops the deliveries of its key, because the order of the action says so. A replay or a skip frees the key.',
  ),
  'delivery.released': about(
    'action',
    'error',
    'Ordered deliveries released',
    'No key of the action is held any more.',
  ),
  'delivery.backlog': about(
    'action',
    'warning',
    'Delivery backlog too old',
    'The oldest delivery that waits for the action is older than its `backlogAlertSeconds`.',
  ),
  'delivery.drained': about(
    'action',
    'warning',
    'Delivery backlog recovered',
    'No delivery of the action waits for longer than its `backlogAlertSeconds` any more.',
  ),
  'breaker.opened': about(
    'action',
    'error',
    'Circuit breaker opened',
    'Too many attempts of the action failed: only probes go out until one succeeds.',
  ),
  'breaker.closed': about(
    'action',
    'error',
    'Circuit breaker closed',
    'An attempt of the action succeeded again: what waited goes out.',
  ),
  'answer.unavailable': about(
    'endpoint',
    'error',
    'Relayed answer unavailable',
    'The action that answers the senders of an endpoint is gone or switched off: the fallback answers.',
  ),
  'answer.available': about(
    'endpoint',
    'error',
    'Relayed answer available',
    'The action answers the senders of the endpoint again.',
  ),
  'transformation.disabled': about(
    'rule',
    'error',
    'Transformation rule switched off',
    'The service switched a rule off after repeated faults.',
  ),
  'watchdog.alarmed': about(
    'watchdog',
    'critical',
    'Watchdog alarmed',
    'No matching capture arrived within the expected interval plus grace.',
  ),
  'watchdog.recovered': about(
    'watchdog',
    'critical',
    'Watchdog recovered',
    'A matching capture arrived again: closes the alarm.',
  ),
  'capture.rejected': about(
    'endpoint',
    'warning',
    'Captures rejected',
    'An endpoint answered 429 over its capture rate. At most one alert an hour, with the count.',
  ),
  'redaction.failed': about(
    'endpoint',
    'error',
    'Redaction failed',
    'A rule of `storeRules` faulted on a capture: only a trace without body and query was stored, and nothing was delivered. At most one alert an hour.',
  ),
  'reconcile.gap': about(
    'endpoint',
    'warning',
    'Events missing',
    "A reconciliation found events of the sender's list that were not captured. One alert per run, with the count.",
  ),
  'action.notify': about(
    'action',
    'info',
    'Notify action',
    "A notify action's own message. It goes to the action's channel, whatever that subscribes to.",
  ),
  'channel.test': {
    ...about('channel', 'info', 'Test message', 'Sent by the test route; stands in the history only.'),
    subscribable: false,
  },
}

export type EventKind = keyof typeof EVENTS

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

export type OpeningKind = keyof typeof CLOSED_BY

/** Kinds that open an incident. */
export const OPENING_KINDS = Object.keys(CLOSED_BY) as OpeningKind[]

export type ClosingKind = (typeof CLOSED_BY)[OpeningKind]

/** Kinds outside of incidents that the domain raises (`channel.test` is sent by its route only). */
export type SingleKind = Exclude<EventKind, OpeningKind | ClosingKind>

/** Every kind of event, in the order of {@link EVENTS}; never empty. */
export const EVENT_KINDS = Object.keys(EVENTS) as [EventKind, ...EventKind[]]

export const SUBSCRIBABLE_KINDS = EVENT_KINDS.filter((kind) => EVENTS[kind].subscribable)

/** Tells whether text from outside names a kind of event. */
export const isEventKind = (text: string): text is EventKind => Object.hasOwn(EVENTS, text)

export interface Subscription {
  readonly kind: EventKind
  readonly minSeverity: Severity
}

/** All events of one severity or a higher one. */
export const everySubscription = (minSeverity: Severity): readonly Subscription[] =>
  SUBSCRIBABLE_KINDS.map((kind) => ({ kind, minSeverity }))

/**
 * Subscriptions as they are stored. A subscription to every event is a severity, without the kinds, so that it includes
 * those of later versions.
 */
export type StoredSubscriptions = Severity | readonly Subscription[]

export function storedSubscriptions(events: readonly Subscription[]): StoredSubscriptions {
  const lowest = events[0]?.minSeverity
  const isOne = events.every(({ minSeverity }) => minSeverity === lowest)
  const isEvery = SUBSCRIBABLE_KINDS.every((kind) => events.some((one) => one.kind === kind))
  return lowest !== undefined && isOne && isEvery ? lowest : events
}

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
