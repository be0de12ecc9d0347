import { Gauge } from 'prom-client'
import { counterBy, registers } from '../platform/metrics/index.ts'

/**
 * Rows that sweeps deleted. `sweep`: `retention`, `bin` and `hidden` (requests), `attempts`, `details` (their records),
 * `endpoints`, `claims` (of events, by `dedupe`).
 */
export const sweptRows = counterBy(
  'sweep',
  ['retention', 'bin', 'hidden', 'attempts', 'details', 'endpoints', 'claims'],
  { name: 'creel_swept_rows_total', help: 'Rows that sweeps deleted, by sweep' },
)

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
