import { z } from 'zod'
import { withExample } from '../api/examples.ts'
import { Int64, optional, Timestamp } from '../api/values.ts'
import { CONDITION_GRAMMAR } from '../engine/conditions/index.ts'
import { WATCHDOG_STATES } from './rules.ts'

/** Lower bound of `expectedIntervalSeconds`. */
const MIN_INTERVAL_SECONDS = 1
/** Upper bound of `expectedIntervalSeconds`: 31 days. */
export const MAX_INTERVAL_SECONDS = 2_678_400
/** Upper bound of `graceSeconds`; the lower one is 0. */
const MAX_GRACE_SECONDS = 2_678_400
const MAX_ALERT_CONTACTS = 20

const interval = z
  .int()
  .min(MIN_INTERVAL_SECONDS)
  .max(MAX_INTERVAL_SECONDS)
  .describe('Expected interval between matching captures: a second to 31 days')

/** A condition; `parseMatch` checks its grammar and names every wrong part. */
const match = z.record(z.string(), z.unknown()).meta({
  ...CONDITION_GRAMMAR,
  description: 'Which captures count: a condition; `{}` counts every capture',
})

const writable = {
  name: optional(z.string().min(1).max(100)).describe('Default: the name of the endpoint'),
  match: optional(match),
  graceSeconds: optional(z.int().min(0).max(MAX_GRACE_SECONDS)).describe(
    'Delay of a capture before the alarm, in seconds; default a fifth of the interval, at least 60',
  ),
  active: optional(z.boolean()).describe('Off: paused'),
  alertContactIds: optional(z.array(z.string().toLowerCase()).max(MAX_ALERT_CONTACTS)).describe(
    'Workspace contacts who get its alarms by mail, besides the alert channels',
  ),
}

const endpointId = z.guid().describe('Id of the endpoint whose captures it watches')

/** Input of the create route; endpoint and interval are required. */
export const createInput = z.object({ endpointId, ...writable, expectedIntervalSeconds: interval })

export const endpointQuery = { endpointId: z.guid().describe('Id of the endpoint') }

/** Input of the update route; absent members are unchanged. */
export const updateInput = z.object({
  id: z.string(),
  endpointId: optional(z.string().toLowerCase()).describe('Fixed on create: equal or left out'),
  ...writable,
  expectedIntervalSeconds: optional(interval),
})

export type CreateInput = z.output<typeof createInput>
export type UpdateInput = z.output<typeof updateInput>

export const Watchdog = z
  .object({
    id: z.uuid(),
    endpointId: z.uuid(),
    endpointName: z.string(),
    name: z.string(),
    state: z.enum(WATCHDOG_STATES),
    active: z.boolean(),
    pausedByPlan: z.boolean().describe('Kept, but over the plan limit: not evaluated'),
    match: z.record(z.string(), z.unknown()).meta(CONDITION_GRAMMAR),
    expectedIntervalSeconds: z.int(),
    graceSeconds: z.int(),
    armedAt: Timestamp,
    lastMatchedAt: Timestamp.nullable(),
    lastMatchedRequestId: Int64.nullable().describe(
      'It may have been deleted since. A duplicate that `dedupe` discards matches and is not stored',
    ),
    dueAt: Timestamp.nullable(),
    alarmAt: Timestamp.nullable(),
    alarmedAt: Timestamp.nullable(),
    recoveredAt: Timestamp.nullable(),
    lastAlertedAt: Timestamp.nullable(),
    createdAt: Timestamp,
    alertContactIds: z.array(z.uuid()),
  })
  .meta({ id: 'Watchdog' })

export const WatchdogSuggestion = withExample(
  'WatchdogSuggestion',
  z.object({
    available: z.boolean(),
    /** One sentence if there is too little history. */
    reason: z.string().nullable(),
    samples: z.int().describe('Matching captures that were measured, at most 501'),
    expectedIntervalSeconds: z.int().nullable(),
    graceSeconds: z.int().nullable(),
    observedP90Seconds: z.int().nullable(),
    newestAt: Timestamp.nullable(),
    oldestAt: Timestamp.nullable(),
  }),
)

export const WatchdogTimeline = z
  .object({
    from: Timestamp,
    to: Timestamp,
    matches: z
      .array(z.object({ requestId: Int64, at: Timestamp }))
      .describe('Stored captures that match, the newest 500, oldest first'),
    alarms: z.array(z.object({ alarmedAt: Timestamp, recoveredAt: Timestamp.nullable() })),
    outages: z
      .array(z.object({ from: Timestamp, to: Timestamp }))
      .describe('Outages of the service, in which no gateway took captures. They cause no alarm'),
  })
  .meta({ id: 'WatchdogTimeline' })

/** The labels of an endpoint's requests, with the number of stored requests of each. */
export const WatchdogLabels = z
  .object({ items: z.array(z.object({ label: z.string(), count: z.int() })) })
  .meta({ id: 'WatchdogLabels' })
