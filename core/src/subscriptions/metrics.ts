import { Counter, Gauge, Histogram } from 'prom-client'
import { counterBy, registers } from '../platform/metrics/index.ts'

/** Live event subscriptions. `state`: `active`, `failing` or `throttled`. Counted by the processes that send. */
export const eventSubscriptions = new Gauge({
  name: 'creel_event_subscriptions',
  help: 'Live subscriptions to events, by state',
  labelNames: ['state'] as const,
  // Each process counts all of them.
  aggregator: 'max',
  registers,
})
for (const state of ['active', 'failing', 'throttled'] as const) eventSubscriptions.set({ state }, 0)

/** Attempts to send events to callbacks. `outcome`: `sent`, `retried`, or `failed` where the event was given up. */
export const eventDeliveries = counterBy('outcome', ['sent', 'retried', 'failed'], {
  name: 'creel_event_deliveries_total',
  help: 'Attempts to send events to callbacks, by outcome',
})

/** Reads in which a subscription skipped events. */
export const eventGaps = new Counter({
  name: 'creel_event_gaps_total',
  help: 'Times that a subscription skipped events, because they were removed or too many',
  registers,
})

/** Checks of callbacks before their first event. */
export const callbackChecks = counterBy(
  'result',
  ['passed', 'connection_refused', 'timeout', 'tls_error', 'http_4xx', 'http_5xx', 'challenge_failed'],
  {
    name: 'creel_event_callback_checks_total',
    help: 'Checks of callbacks of event subscriptions, by result',
  },
)

/** Time from a capture to the answer of the callback. */
export const eventLag = new Histogram({
  name: 'creel_event_delivery_lag_seconds',
  help: 'Time from the capture of a request to the 2xx of the callback that was sent its event',
  buckets: [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900],
  registers,
})
