import type { LimitName } from './plans.ts'

/** Description of each limit. */
export const LIMIT_MEANINGS: Readonly<Record<LimitName, string>> = {
  apiRatePerMinute: 'API calls per minute of this key',
  apiKeysMax: 'Active keys of the workspace',
  endpointsMax: 'Endpoints of the workspace',
  retentionDays: 'Days for which a captured request is kept',
  captureRatePerMinute: 'Captures per minute and endpoint',
  captureBytesPerMinute:
    'Bytes of bodies that an endpoint captures in a minute; the capture that passes it is the last',
  storedRequestsMax: 'Stored requests of an endpoint; beyond it the oldest are evicted',
  storedBytesMax:
    'Bytes of stored requests and their attempts, heads included, in the workspace; beyond it the oldest are evicted',
  payloadBytesMax: 'Body of a capture; of a longer one only a prefix is kept',
  actionsMax: 'Actions of an endpoint',
  rulesMax: 'Transformation rules of a destination; 0: not in the plan',
  watchdogsMax: 'Watchdogs of the workspace',
  alertChannelsMax: 'Alert channels of the workspace; 0: not in the plan',
  parallelAwaitsMax: 'Awaits of this key that run at once',
  bulkReplay: '1 when bulk replay is in the plan, else 0',
  eventSubscriptionsMax: 'Event subscriptions of the workspace; 0: not in the plan',
  eventsPerMinuteMax: 'Events that one subscription is sent in a minute; further ones wait',
}
