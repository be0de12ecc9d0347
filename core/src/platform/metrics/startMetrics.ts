import { collectDefaultMetrics } from 'prom-client'
import { ATTEMPT_STATES } from '../../engine/words/index.ts'
import { alertSends, buildInfo, deliveryAttempts, internalErrors, registry } from './metrics.ts'

/** Metrics that exist on V8 only. JavaScriptCore has one heap, and would report 0 for ever. */
const V8_ONLY = [
  'nodejs_heap_space_size_total_bytes',
  'nodejs_heap_space_size_used_bytes',
  'nodejs_heap_space_size_available_bytes',
  'nodejs_active_resources',
  'nodejs_active_resources_total',
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
]

/**
 * Starts the metrics of this process. Every series that an alert rule watches exists at 0 from now on: Prometheus sees
 * no increase in a series that appears with its first event. Idempotent.
 *
 * @param version of the program, for `creel_build_info`
 * @param channelKinds every kind of alert channel
 */
export function startMetrics(version: string, channelKinds: readonly string[]): void {
  buildInfo.labels(version, Bun.version).set(1)
  for (const state of ATTEMPT_STATES) {
    if (state !== 'Pending') deliveryAttempts.labels(state).inc(0)
  }
  for (const channel of channelKinds) {
    for (const outcome of ['delivered', 'failed', 'muted', 'suppressed'])
      alertSends.labels(outcome, channel).inc(0)
  }
  internalErrors.inc(0)
  if (registry.getSingleMetric('process_start_time_seconds') !== undefined) return
  collectDefaultMetrics({ register: registry })
  for (const name of V8_ONLY) registry.removeSingleMetric(name)
}
