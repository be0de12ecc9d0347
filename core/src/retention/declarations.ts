import { counterBy, gauge } from '../platform/metrics/index.ts'
import { shortQueue, sweepQueue } from '../platform/queues.ts'

/** Seconds from one run of {@link STORAGE_SWEEP} to the next. */
export const STORAGE_SWEEP_SECONDS = 10

/**
 * Enforces the limits of storage in bytes. A run checks once, or, if a limit is half reached, every second until the
 * next run is due.
 */
export const STORAGE_SWEEP = shortQueue('storage.sweep', 3600, { everySeconds: STORAGE_SWEEP_SECONDS })

/** Analyses tables that have outgrown their statistics. */
export const STATISTICS = shortQueue('statistics.analyze', 3600, { everySeconds: 1 })

/**
 * Deletes expired endpoints and the rows of deleted ones, and lifts suspensions for which there is room. Singleton:
 * two sweeps at once would only wait for each other's locks. The next run resumes where this one stopped.
 */
export const ENDPOINT_SWEEP = sweepQueue('endpoints.sweep', 3600)

/** Deletes rows past the retention of their plan. Singleton like the other sweep, and safe to interrupt. */
export const RETENTION_SWEEP = sweepQueue('retention.sweep', 3600, '*/5 * * * *')

/**
 * Rows that sweeps deleted. `sweep`: `retention`, `bin` and `hidden` (requests), `deadLetters` (of evicted requests),
 * `attempts`, `details` (their records), `endpoints`, `claims` (of events, by `dedupe`).
 */
export const sweptRows = counterBy(
  'sweep',
  ['retention', 'bin', 'hidden', 'deadLetters', 'attempts', 'details', 'endpoints', 'claims'],
  { name: 'creel_swept_rows_total', help: 'Rows that sweeps deleted, by sweep' },
)

/** All captures, deleted and hidden ones included. */
export const storageBytes = gauge('creel_storage_bytes', 'Bytes that captures take in all')

/** `CREEL_STORAGE_MAX`. */
export const storageMaxBytes = gauge(
  'creel_storage_max_bytes',
  'Bytes that captures may take in all; 0 without a bound',
)
