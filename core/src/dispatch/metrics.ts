import { counterBy, gauge } from '../platform/metrics/index.ts'
import { LANE_KINDS } from './adapter.ts'

/** Sends in flight, by kind: also those that no scheduler of lanes makes. */
export const sendsInFlight = gauge(
  'creel_lane_sends_in_flight',
  'Sends in flight, by kind: deliveries, alerts, events, rehearsals',
  'kind',
)

export const sendsWaiting = gauge(
  'creel_sends_waiting',
  'Sends that are due and have not begun, by kind; those of paused actions do not count',
  'kind',
)

export const sendLagSeconds = gauge(
  'creel_send_lag_seconds',
  'How long the first of the sends that are due has waited, by kind',
  'kind',
)

/** Looks at lanes for sends that may start. */
export const laneLooks = counterBy('kind', LANE_KINDS, {
  name: 'creel_lane_looks_total',
  help: 'Looks at lanes for sends that may start, by kind of lane',
})

for (const of of [sendsInFlight, sendsWaiting, sendLagSeconds])
  for (const kind of LANE_KINDS) of.set({ kind }, 0)
