import { Counter, Gauge, Histogram } from 'prom-client'
import { counterBy, registers } from '../platform/metrics/index.ts'

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

const BATCH_WAYS = ['plain', 'evicting', 'general'] as const

/**
 * Group commits. `way`: `plain` (a count and a COPY), `evicting` (the same at the cap), `general` (the statement that
 * decides capture by capture).
 */
export const captureBatches = counterBy('way', BATCH_WAYS, {
  name: 'creel_capture_batches_total',
  help: 'Group commits of captures, by the statements that stored them',
})

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
