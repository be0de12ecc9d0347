import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/**
 * All metrics of this process, for `/metrics`. Each process has its own registry. Prometheus scrapes programs and adds
 * them up itself; `sumOfMetrics` adds up the processes of one program. Names and units follow Prometheus' conventions:
 * base units, `_total` for counters.
 */
export const registry = new Registry()

const registers = [registry]

/** Version of the program, as labels; always 1. */
export const buildInfo = new Gauge({
  name: 'creel_build_info',
  help: 'The version of creel and of Bun',
  labelNames: ['version', 'bun'] as const,
  // Always 1, however many processes a program has.
  aggregator: 'first',
  registers,
})

/** Calls that ended in `internal_error`. Each is a bug, and logged under its traceId. */
export const internalErrors = new Counter({
  name: 'creel_internal_errors_total',
  help: 'Calls that ended in internal_error',
  registers,
})

const CAPTURE_OUTCOMES = [
  'stored',
  'oversize',
  'discarded',
  'not_found',
  'rate_limited',
  'unverified',
  'sender_not_allowed',
  'unavailable',
] as const

/** Counts since the last scrape, by outcome. */
const answeredSenders = new Map<string, number>()

/** Answers to senders; {@link countCapture} counts them. */
export const captures = new Counter({
  name: 'creel_captures_total',
  help: 'Answers to senders, by what became of the capture',
  labelNames: ['outcome'] as const,
  registers,
  collect() {
    // Every series exists from the start: Prometheus sees no increase in a series that appears with its first event.
    for (const outcome of CAPTURE_OUTCOMES) this.inc({ outcome }, answeredSenders.get(outcome) ?? 0)
    answeredSenders.clear()
  },
})

/**
 * Counts an answer to a sender. The counter itself looks up its labels each time, which costs a microsecond a capture.
 */
export function countCapture(outcome: (typeof CAPTURE_OUTCOMES)[number]): void {
  answeredSenders.set(outcome, (answeredSenders.get(outcome) ?? 0) + 1)
}

/**
 * Group commits. `way`: `plain` (a count and a COPY), `evicting` (the same at the cap), `general` (the statement that
 * decides capture by capture).
 */
export const captureBatches = new Counter({
  name: 'creel_capture_batches_total',
  help: 'Group commits of captures, by the statements that stored them',
  labelNames: ['way'] as const,
  registers,
})
const BATCH_WAYS = ['plain', 'evicting', 'general'] as const
for (const way of BATCH_WAYS) captureBatches.inc({ way }, 0)

/**
 * Stored requests that were evicted for newer ones. `limit`: `requests` (an endpoint's `storedRequestsMax`), `bytes` (a
 * workspace's `storedBytesMax`), `storage` (the installation's `CREEL_STORAGE_MAX`).
 */
export const evictedRequests = new Counter({
  name: 'creel_evicted_requests_total',
  help: 'Stored requests that made room for newer ones, by the limit that was reached',
  labelNames: ['limit'] as const,
  registers,
})
for (const limit of ['requests', 'bytes', 'storage'] as const) evictedRequests.inc({ limit }, 0)

/**
 * Rows that sweeps deleted. `sweep`: `retention`, `bin` and `hidden` (requests), `attempts`, `details` (their records),
 * `endpoints`, `claims` (of events, by `dedupe`).
 */
export const sweptRows = new Counter({
  name: 'creel_swept_rows_total',
  help: 'Rows that sweeps deleted, by sweep',
  labelNames: ['sweep'] as const,
  registers,
})
for (const sweep of ['retention', 'bin', 'hidden', 'attempts', 'details', 'endpoints', 'claims'] as const) {
  sweptRows.inc({ sweep }, 0)
}

/** Reconciliations that ended. */
export const reconciliations = new Counter({
  name: 'creel_reconciliations_total',
  help: 'Reconciliations that ended, by how',
  labelNames: ['state'] as const,
  registers,
})
for (const state of ['done', 'failed'] as const) reconciliations.inc({ state }, 0)

/**
 * Events in reconciliations that ended. `result`: `missing`, and of these `redelivered`, `captured`, `refused` and
 * `outstanding`.
 */
export const reconciledEvents = new Counter({
  name: 'creel_reconciled_events_total',
  help: 'Events that reconciliations found missing, and what became of them',
  labelNames: ['result'] as const,
  registers,
})
for (const result of ['missing', 'redelivered', 'captured', 'refused', 'outstanding'] as const) {
  reconciledEvents.inc({ result }, 0)
}

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
export const eventDeliveries = new Counter({
  name: 'creel_event_deliveries_total',
  help: 'Attempts to send events to callbacks, by outcome',
  labelNames: ['outcome'] as const,
  registers,
})
for (const outcome of ['sent', 'retried', 'failed'] as const) eventDeliveries.inc({ outcome }, 0)

/** Reads in which a subscription skipped events. */
export const eventGaps = new Counter({
  name: 'creel_event_gaps_total',
  help: 'Times that a subscription skipped events, because they were removed or too many',
  registers,
})

/** Checks of callbacks before their first event. */
export const callbackChecks = new Counter({
  name: 'creel_event_callback_checks_total',
  help: 'Checks of callbacks of event subscriptions, by result',
  labelNames: ['result'] as const,
  registers,
})
for (const result of [
  'passed',
  'connection_refused',
  'timeout',
  'tls_error',
  'http_4xx',
  'http_5xx',
  'challenge_failed',
] as const) {
  callbackChecks.inc({ result }, 0)
}

/** Time from a capture to the answer of the callback. */
export const eventLag = new Histogram({
  name: 'creel_event_delivery_lag_seconds',
  help: 'Time from the capture of a request to the 2xx of the callback that was sent its event',
  buckets: [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900],
  registers,
})

/** Bytes of all captures, deleted and hidden ones included. Read at each scrape. */
export const storageBytes = new Gauge({
  name: 'creel_storage_bytes',
  help: 'Bytes that captures take in all',
  registers,
})

/** `CREEL_STORAGE_MAX` in bytes; 0 without a bound. */
export const storageMaxBytes = new Gauge({
  name: 'creel_storage_max_bytes',
  help: 'Bytes that captures may take in all; 0 without a bound',
  registers,
})

/** Lists and searches, by server; both stay 0 without a replica. */
export const replicatedReads = new Counter({
  name: 'creel_replicated_reads_total',
  help: 'Lists and searches where CREEL_DATABASE_READ_URL is set, by where they ran',
  labelNames: ['server'] as const,
  registers,
})
for (const server of ['replica', 'primary'] as const) replicatedReads.inc({ server }, 0)

/** Lag of the replica in bytes. Read at each scrape. */
export const replicaLagBytes = new Gauge({
  name: 'creel_replica_lag_bytes',
  help: 'Write-ahead log that the replica has not replayed; -1 when it is out of reach, 0 without one',
  registers,
})

/** Lag of the replica in seconds. Read at each scrape. */
export const replicaLagSeconds = new Gauge({
  name: 'creel_replica_lag_seconds',
  help: 'Age of what the replica has replayed last, while there is more; -1 when it is out of reach, 0 without one',
  registers,
})

/** Captures in one group commit. */
export const captureBatchSize = new Histogram({
  name: 'creel_capture_batch_size',
  help: 'Captures in one group commit',
  buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
  registers,
})

/** From the start of a group commit's statement to its commit. */
export const captureCommitSeconds = new Histogram({
  name: 'creel_capture_commit_seconds',
  help: 'Time one group commit took',
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  registers,
})

/** Sets the metrics of captures to 0, after the captures of a warm-up. */
export function resetCaptureMetrics(): void {
  answeredSenders.clear()
  captureBatches.reset()
  for (const way of BATCH_WAYS) captureBatches.inc({ way }, 0)
  captureBatchSize.reset()
  captureCommitSeconds.reset()
}

/** Attempts of forwards that ended, replays included. `state` as in the API. */
export const deliveryAttempts = new Counter({
  name: 'creel_delivery_attempts_total',
  help: 'Attempts of forwards that ended, by state',
  labelNames: ['state'] as const,
  registers,
})

/** Actions that are paused. Read at each scrape. */
export const pausedActions = new Gauge({
  name: 'creel_paused_actions',
  help: 'Forward actions that are paused',
  registers,
})

/** Actions whose breaker is open. Read at each scrape. */
export const breakersOpen = new Gauge({
  name: 'creel_breakers_open',
  help: 'Forward actions whose breaker is open: only probes go out',
  registers,
})

/**
 * Deliveries that wait in the flows of governed actions. Read at each scrape. `state`: `waiting`, `sending`, `behind`,
 * `held`.
 */
export const flowDeliveries = new Gauge({
  name: 'creel_flow_deliveries',
  help: 'Deliveries of governed actions, by where they are',
  labelNames: ['state'] as const,
  registers,
})

/** Duration of attempts to forward, failures included. */
export const deliveryAttemptSeconds = new Histogram({
  name: 'creel_delivery_attempt_seconds',
  help: 'Duration of attempts to forward',
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  registers,
})

/**
 * Attempts to send an alert. `outcome`: `delivered`, `failed`, `muted`, `suppressed`; `channel` is the channel's kind.
 */
export const alertSends = new Counter({
  name: 'creel_alert_sends_total',
  help: 'Attempts to send an alert, by outcome and kind of channel',
  labelNames: ['outcome', 'channel'] as const,
  registers,
})

/** API calls. `route` is the name of the procedure (`endpoints.list`), or `unknown`. */
export const apiRequestSeconds = new Histogram({
  name: 'creel_api_request_seconds',
  help: 'Time from request to answer of API calls; awaits included',
  labelNames: ['route', 'status'] as const,
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  registers,
})

/**
 * Requests and connections that were refused before a route handled them. `reason`: the status for bad HTTP (`400`,
 * `431`, `505`), `503` at the connection limit, `throttled` for calls without a good key from addresses with too many
 * failed ones.
 */
export const refusedRequests = new Counter({
  name: 'creel_refused_requests_total',
  help: 'Requests and connections that were refused before anybody served them, by reason',
  labelNames: ['reason'] as const,
  registers,
})
for (const reason of ['400', '431', '505', '503', 'throttled'] as const) refusedRequests.inc({ reason }, 0)

/** Connections that were ended by an error of the service. */
export const connectionFaults = new Counter({
  name: 'creel_connection_faults_total',
  help: 'Connections that an error of the service ended',
  registers,
})

/** Gateway processes of this program that ended by themselves, and were started again. */
export const gatewayRestarts = new Counter({
  name: 'creel_gateway_restarts_total',
  help: 'Gateway processes of the program that ended and were started again',
  registers,
})

/** Whether this process reaches a cell; no series in an installation without cells. */
export const cellUp = new Gauge({
  name: 'creel_cell_up',
  help: 'Whether a cell is reached: 1, or 0',
  labelNames: ['cell'] as const,
  aggregator: 'min',
  registers,
})

/** Await calls that are waiting now. */
export const awaitsWaiting = new Gauge({
  name: 'creel_awaits_waiting',
  help: 'Await calls that wait in this process',
  registers,
})

/** Streams that are open now. */
export const streamsOpen = new Gauge({
  name: 'creel_streams_open',
  help: 'Streams of events that are open in this process',
  registers,
})

const bodyBudgets = new Set<() => number>()

/** Memory for bodies of captures in flight. Read at each scrape. */
export const bodyBytes = new Gauge({
  name: 'creel_body_bytes',
  help: 'Bytes of captured bodies that are arriving or waiting to be stored',
  registers,
  collect() {
    let bytes = 0
    for (const taken of bodyBudgets) bytes += taken()
    this.set(bytes)
  },
})

/**
 * Includes a budget of bodies in {@link bodyBytes}, as long as the process runs.
 *
 * @param taken returns the bytes in use
 */
export function countBodyBytes(taken: () => number): void {
  bodyBudgets.add(taken)
}

/** Backlog of a queue: jobs that are due and not taken by a worker. Read at each scrape. */
export const queueDepth = new Gauge({
  name: 'creel_queue_depth',
  help: 'Jobs that are due and not yet taken; of deliveries, the attempts in them',
  labelNames: ['queue'] as const,
  registers,
})

/** Age of the oldest due job of a queue. */
export const queueLagSeconds = new Gauge({
  name: 'creel_queue_lag_seconds',
  help: 'How long the oldest due job has waited',
  labelNames: ['queue'] as const,
  registers,
})
