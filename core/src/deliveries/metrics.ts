import { Histogram } from 'prom-client'
import { ATTEMPT_STATES } from '../engine/words/index.ts'
import { counterBy, gauge, registers } from '../platform/metrics/index.ts'

/** Attempts of forwards that ended, replays included, rehearsals not. `state` as in the API. */
export const deliveryAttempts = counterBy(
  'state',
  ATTEMPT_STATES.filter((state) => state !== 'Pending'),
  { name: 'creel_delivery_attempts_total', help: 'Attempts of forwards that ended, by state' },
)

export const pausedActions = gauge('creel_paused_actions', 'Forward actions that are paused')

export const breakersOpen = gauge(
  'creel_breakers_open',
  'Forward actions whose breaker is open: only probes go out',
)

/** Open deliveries. Read at each scrape. `state`: `waiting`, also for a retry, `sending`, `behind`, `held`. */
export const flowDeliveries = gauge('creel_flow_deliveries', 'Open deliveries, by where they are', 'state')

/** Duration of attempts to forward, failures included, rehearsals not. */
export const deliveryAttemptSeconds = new Histogram({
  name: 'creel_delivery_attempt_seconds',
  help: 'Duration of attempts to forward',
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  registers,
})
