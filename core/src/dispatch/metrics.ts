import { Counter, Gauge } from 'prom-client'
import { registers } from '../platform/metrics/index.ts'
import { LANE_KINDS } from './adapter.ts'

/** Sends in flight, by kind: also those that no scheduler of lanes makes. */
export const sendsInFlight = new Gauge({
  name: 'creel_lane_sends_in_flight',
  help: 'Sends in flight, by kind: deliveries, alerts, events, rehearsals',
  labelNames: ['kind'] as const,
  registers,
})

export const sendsWaiting = new Gauge({
  name: 'creel_sends_waiting',
  help: 'Sends that are due and have not begun, by kind; those of paused actions do not count',
  labelNames: ['kind'] as const,
  registers,
})

export const sendLagSeconds = new Gauge({
  name: 'creel_send_lag_seconds',
  help: 'How long the first of the sends that are due has waited, by kind',
  labelNames: ['kind'] as const,
  registers,
})

/** Looks at lanes for sends that may start. */
export const laneLooks = new Counter({
  name: 'creel_lane_looks_total',
  help: 'Looks at lanes for sends that may start, by kind of lane',
  labelNames: ['kind'] as const,
  registers,
})

for (const kind of LANE_KINDS) {
  sendsInFlight.set({ kind }, 0)
  laneLooks.inc({ kind }, 0)
  sendsWaiting.set({ kind }, 0)
  sendLagSeconds.set({ kind }, 0)
}
