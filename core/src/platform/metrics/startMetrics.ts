import { collectDefaultMetrics } from 'prom-client'
import { buildInfo } from './metrics.ts'
import { registry } from './registry.ts'

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
 * Starts the metrics of this process. Idempotent.
 *
 * @param version of the program, for `creel_build_info`
 */
export function startMetrics(version: string): void {
  buildInfo.labels(version, Bun.version).set(1)
  if (registry.getSingleMetric('process_start_time_seconds') !== undefined) return
  collectDefaultMetrics({ register: registry })
  for (const name of V8_ONLY) registry.removeSingleMetric(name)
}
