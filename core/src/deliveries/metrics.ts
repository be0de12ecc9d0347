import { Gauge, Histogram } from 'prom-client'
import { ATTEMPT_STATES } from '../engine/words/index.ts'
import { counterBy, registers } from '../platform/metrics/index.ts'

/** Attempts of forwards that ended, replays included, rehearsals not. `state` as in the API. */
export const deliveryAttempts = counterBy(
  'state',
  ATTEMPT_STATES.filter((state) => state !== 'Pending'),
  { name: 'creel_delivery_attempts_total', help: 'Attempts of forwards that ended, by state' },
)

export const pausedActions = new Gauge({
  name: 'creel_paused_actions',
  help: 'Forward actions that are paused',
  registers,
})

export const breakersOpen = new Gauge({
  name: 'creel_breakers_open',
  help: 'Forward actions whose breaker is open: only probes go out',
  registers,
})

/** Open deliveries. Read at each scrape. `state`: `waiting`, also for a retry, `sending`, `behind`, `held`. */
export const flowDeliveries = new Gauge({
  name: 'creel_flow_deliveries',
  help: 'Open deliveries, by where they are',
  labelNames: ['state'] as const,
  registers,
})

/** Duration of attempts to forward, failures included, rehearsals not. */
export const deliveryAttemptSeconds = new Histogram({
  name: 'creel_delivery_attempt_seconds',
  help: 'Duration of attempts to forward',
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  registers,
})
