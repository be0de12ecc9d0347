import type { Json } from './json.ts'

const ENDPOINT_ID = '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33'
const RULE_ID = '5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10'

const RULE = {
  version: 1,
  name: 'Slim',
  when: { all: [{ path: 'body.type', op: 'startsWith', value: 'invoice.' }] },
  steps: [
    { op: 'keep', paths: ['body.id', 'body.data.amount'] },
    { op: 'redact', paths: ['headers.Authorization'], with: '***' },
  ],
}

const SAMPLE = {
  headers: { 'Content-Type': 'application/json' },
  body: '{"id":"evt_1","type":"invoice.paid","data":{"amount":12.5}}',
}

/** A body for each operation that takes one, by the procedure's name: what a reader would send first. */
export const BODY_EXAMPLES: Readonly<Record<string, Json>> = {
  'endpoints.create': {
    name: 'stripe-ci',
    ttlSeconds: 900,
    responseStatusCode: 202,
    responseBody: '{"received":true}',
  },
  'endpoints.update': { name: 'stripe', responseHeaders: { 'X-Handled-By': 'creel' } },
  'actions.create': {
    kind: 'forward',
    name: 'Billing',
    url: 'https://app.acme.dev/hooks',
    condition: { all: [{ path: 'body.type', op: 'startsWith', value: 'invoice.' }] },
  },
  'actions.update': { isActive: false },
  'transformations.create': RULE,
  'transformations.createFirst': RULE,
  'transformations.update': { enabled: false },
  'transformations.updateFirst': { enabled: false },
  'transformations.order': { order: [RULE_ID] },
  'transformations.preview': { rule: RULE, sample: SAMPLE },
  'transformations.previewSet': { sample: SAMPLE },
  'requests.bulkDelete': { requestIds: [90117, 90118] },
  'requests.bulkReplay': { requestIds: [90117, 90118] },
  'recycleBin.restore': { requestIds: [90117, 90118] },
  'alertChannels.create': {
    kind: 'webhook',
    name: 'Ops',
    settings: { url: 'https://ops.acme.dev/alerts' },
    events: [{ kind: 'delivery.parked', minSeverity: 'error' }],
  },
  'alertChannels.update': { enabled: false },
  'watchdogs.create': {
    endpointId: ENDPOINT_ID,
    name: 'Nightly export',
    expectedIntervalSeconds: 86400,
    graceSeconds: 3600,
  },
  'watchdogs.update': { graceSeconds: 7200 },
  'watchdogs.setActive': { active: false },
}
