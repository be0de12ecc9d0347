import type { Json } from './json.ts'

/** A body for each operation that takes one, by the procedure's name: what a reader would send first. */
export const BODY_EXAMPLES: Readonly<Record<string, Json>> = {
  'endpoints.create': {
    name: 'stripe-ci',
    ttlSeconds: 900,
    responseStatusCode: 202,
    responseBody: '{"received":true}',
  },
  'endpoints.update': { name: 'stripe', responseHeaders: { 'X-Handled-By': 'creel' } },
  'requests.bulkDelete': { requestIds: [90117, 90118] },
  'watchdogs.create': {
    endpointId: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
    name: 'Nightly export',
    expectedIntervalSeconds: 86400,
    graceSeconds: 3600,
  },
  'watchdogs.update': { graceSeconds: 7200 },
  'watchdogs.setActive': { active: false },
}
