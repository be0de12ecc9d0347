import { counter, counterBy, registers } from '@creel/core/platform/metrics'
import { Histogram } from 'prom-client'

/** Calls that ended in `internal_error`. Each is a bug, and logged under its traceId. */
export const internalErrors = counter('creel_internal_errors_total', 'Calls that ended in internal_error')

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
export const refusedRequests = counterBy('reason', ['400', '431', '505', '503', 'throttled'], {
  name: 'creel_refused_requests_total',
  help: 'Requests and connections that were refused before they were served, by reason',
})

export const connectionFaults = counter(
  'creel_connection_faults_total',
  'Connections that an error of the service ended',
)

/** Gateway processes of this program that ended by themselves, and were started again. */
export const gatewayRestarts = counter(
  'creel_gateway_restarts_total',
  'Gateway processes of the program that ended and were started again',
)
