export {
  EVENT_KINDS,
  EVENTS,
  type EventKind,
  everySubscription,
  isEventKind,
  passes,
  SEVERITIES,
  type Severity,
  type StoredSubscriptions,
  SUBSCRIBABLE_KINDS,
  type Subscription,
  storedSubscriptions,
} from './events.ts'
export { type Alert, isMarkup } from './find.ts'
export {
  type Cause,
  closeIncidents,
  closeIncidentsSilently,
  openIncident,
  type Recovery,
} from './incidents.ts'
export * from './outbox.ts'
export {
  forgetIncidentReasons,
  forgetReasons,
  nextIncidentReasons,
  nextReasons,
  sealMessages,
} from './queries.ts'
export { ALERT_FAN_OUT, type Named, raiseSingle, type SingleAlert } from './raise.ts'
export { wordsOf } from './texts.ts'
