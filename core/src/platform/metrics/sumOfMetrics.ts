import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client'
import { registry } from './metrics.ts'

export type ProcessMetrics = readonly MetricObjectWithValues<MetricValue<string>>[]

export function metricsOfProcess(): Promise<ProcessMetrics> {
  return registry.getMetricsAsJSON()
}

/**
 * Adds up the metrics of a program's processes: counters, histograms and most gauges are sums. Start time and
 * version are those of the first process, and the lag of the event loop is the average.
 */
export function sumOfMetrics(
  processes: readonly ProcessMetrics[],
): Registry<'text/plain; version=0.0.4; charset=utf-8'> {
  // The library omits the start time, by which Prometheus' queries tell that a program was started again.
  const kept = processes.map((metrics) =>
    metrics.map((metric) =>
      String(metric.aggregator) === 'omit' ? { ...metric, aggregator: 'first' as const } : metric,
    ),
  )
  return AggregatorRegistry.aggregate(kept)
}

/** The metrics of an ended process that the program goes on counting: what only grows. Gauges ended with it. */
export function lastingMetrics(metrics: ProcessMetrics): ProcessMetrics {
  return metrics.filter(({ type }) => String(type) === 'counter' || String(type) === 'histogram')
}
