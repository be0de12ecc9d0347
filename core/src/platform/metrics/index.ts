import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'

/**
 * All metrics of this process, for `/metrics`. Each noun declares its own in its `metrics.ts`. Each process has its own
 * registry. Prometheus scrapes programs and adds them up itself; `sumOfMetrics` adds up the processes of one program.
 * Names and units follow Prometheus' conventions: base units, `_total` for counters.
 */
export const registry = new Registry()

/** The option of every metric that puts it into {@link registry}. */
export const registers = [registry]

/**
 * A counter by one label. Every series exists at 0 from the start: Prometheus sees no increase in a series that appears
 * with its first event.
 */
export function counterBy<Label extends string>(
  label: Label,
  values: readonly string[],
  { name, help }: { readonly name: string; readonly help: string },
): Counter<Label> {
  const counter = new Counter({ name, help, labelNames: [label], registers })
  for (const value of values) counter.labels(value).inc(0)
  return counter
}

/** Version of the program, as labels; always 1. */
const buildInfo = new Gauge({
  name: 'creel_build_info',
  help: 'The version of creel and of Bun',
  labelNames: ['version', 'bun'] as const,
  // Always 1, however many processes a program has.
  aggregator: 'first',
  registers,
})

/** Lists and searches, by server; both stay 0 without a replica. */
export const replicatedReads = counterBy('server', ['replica', 'primary'], {
  name: 'creel_replicated_reads_total',
  help: 'Lists and searches where CREEL_DATABASE_READ_URL is set, by where they ran',
})

/** A counter without labels. */
export const counter = (name: string, help: string): Counter => new Counter({ name, help, registers })

/** A gauge, which is read at each scrape. */
export const gauge = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
  new Gauge<Label>({ name, help, labelNames, registers })

export const replicaLagBytes = gauge(
  'creel_replica_lag_bytes',
  'Write-ahead log that the replica has not replayed; -1 when it is out of reach, 0 without one',
)

export const replicaLagSeconds = gauge(
  'creel_replica_lag_seconds',
  'Age of what the replica has replayed last, while there is more; -1 when it is out of reach, 0 without one',
)

export const queueDepth = gauge('creel_queue_depth', 'Jobs that are due and not yet taken', 'queue')

export const queueLagSeconds = gauge(
  'creel_queue_lag_seconds',
  'How long the oldest due job has waited',
  'queue',
)

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
