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
export { type Alert, findAlert, isMarkup, wordsOf } from './find.ts'
export {
  closeIncidents,
  closeIncidentsOfEndpoints,
  closeIncidentsSilently,
  openIncident,
} from './incidents.ts'
export {
  forgetIncidentReasons,
  forgetReasons,
  insertAlerts,
  lockAlerts,
  lockOpen,
  lockWaitingAlert,
  lockWaitingOpening,
  markFannedOut,
  nextIncidentReasons,
  nextReasons,
  pruneAlerts,
  sealMessages,
  waitingSince,
} from './queries.ts'
export { ALERT_FAN_OUT, type Named, type Occasion, ownAlert, raiseSingle } from './raise.ts'
