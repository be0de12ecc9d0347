import { Gauge } from 'prom-client'
import { counterBy, registers } from '../platform/metrics/index.ts'
import { sweepQueue } from '../platform/queues.ts'

/** Makes the pages by which text searches skip requests. Singleton, and safe to interrupt. */
export const SEARCH_PAGES = sweepQueue('search.pages', 3600)

export const awaitsWaiting = new Gauge({
  name: 'creel_awaits_waiting',
  help: 'Await calls that wait in this process',
  registers,
})

/**
 * Stored requests that were evicted for newer ones. `limit`: `requests` (an endpoint's `storedRequestsMax`), `bytes` (a
 * workspace's `storedBytesMax`), `storage` (the installation's `CREEL_STORAGE_MAX`).
 */
export const evictedRequests = counterBy('limit', ['requests', 'bytes', 'storage'], {
  name: 'creel_evicted_requests_total',
  help: 'Stored requests that made room for newer ones, by the limit that was reached',
})
