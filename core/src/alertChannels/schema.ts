import { z } from 'zod'
import { EVENT_KINDS, SEVERITIES, SUBSCRIBABLE_KINDS } from '../alerts/index.ts'
import { idCursorInput } from '../api/cursors.ts'
import { withExample } from '../api/examples.ts'
import { pageInput } from '../api/pagination.ts'
import { optional, Timestamp } from '../api/values.ts'
import { HEALTHS } from './health.ts'
import { CHANNEL_KIND_NAMES } from './kinds/index.ts'

/** Maximum duration of a mute. */
export const MUTE_DAYS_MAX = 30

const subscription = z.object({
  kind: z.enum(SUBSCRIBABLE_KINDS),
  minSeverity: optional(z.enum(SEVERITIES)).describe('Default info: every severity'),
})

const writable = {
  name: optional(z.string().min(1).max(100)).describe('Shown to people; 1 to 100 characters'),
  enabled: optional(z.boolean()).describe('Off: nothing is sent'),
  secret: optional(z.string()).describe(
    'The credential that the kind\'s `credentialLabel` names. Write-only; "" clears',
  ),
  settings: optional(z.record(z.string(), z.unknown())).describe(
    'The kind\'s `fields`; merged member by member, "" takes an optional one back to its default',
  ),
  events: optional(z.array(subscription)).describe(
    'Subscribed events; [] for none, omitted on create for all. All events with one `minSeverity` include those of later versions',
  ),
  mutedUntil: optional(z.string()).describe(
    `Timestamp at most ${MUTE_DAYS_MAX} days ahead; "" or a past one unmutes`,
  ),
}

/** Input of the create route; `settings` and `events` are checked against the kind after parsing. */
export const createInput = z.object({ kind: z.enum(CHANNEL_KIND_NAMES), ...writable })

/** Input of the update route: absent members are unchanged, and the kind cannot change. */
export const updateInput = z.object({
  id: z.string(),
  kind: optional(z.string()).describe('Cannot change; accepted when equal'),
  ...writable,
})

export type CreateInput = z.output<typeof createInput>
export type UpdateInput = z.output<typeof updateInput>
/** One item of `events` after parsing. */
export type SubscriptionInput = z.output<typeof subscription>

/** The public schema of a channel. */
export const AlertChannel = z
  .object({
    id: z.uuid(),
    kind: z.enum(CHANNEL_KIND_NAMES),
    name: z.string(),
    enabled: z.boolean(),
    health: z.enum(HEALTHS),
    credentialSet: z.boolean(),
    credentialSetAt: Timestamp.nullable(),
    connected: z.boolean().describe('Whether the channel has all that a send needs'),
    destination: z.string().nullable().describe('Destination, without secrets'),
    settings: z.record(z.string(), z.unknown()),
    mutedUntil: Timestamp.nullable(),
    events: z.array(z.object({ kind: z.enum(SUBSCRIBABLE_KINDS), minSeverity: z.enum(SEVERITIES) })),
    lastSuccessAt: Timestamp.nullable(),
    lastFailureAt: Timestamp.nullable(),
    lastError: z.string().nullable(),
    consecutiveFailures: z.int(),
    createdAt: Timestamp,
  })
  .meta({ id: 'AlertChannel' })

export const AlertChannelKind = z
  .object({
    kind: z.enum(CHANNEL_KIND_NAMES),
    displayName: z.string(),
    credentialLabel: z.string(),
    credentialRequired: z.boolean(),
    fields: z.array(
      z.object({
        name: z.string(),
        label: z.string(),
        type: z.enum(['string', 'integer', 'url', 'select', 'headers']),
        required: z.boolean(),
        options: z.array(z.string()).nullable(),
        help: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'AlertChannelKind' })

export const AlertEvent = z
  .object({
    kind: z.enum(SUBSCRIBABLE_KINDS),
    displayName: z.string(),
    description: z.string(),
    defaultSeverity: z.enum(SEVERITIES),
    subjectType: z.string(),
    subscribable: z.boolean(),
  })
  .meta({ id: 'AlertEvent' })

/** Answer of the test route. `delivered` is false if the provider rejected the message. */
export const TestResult = z
  .object({
    delivered: z.boolean(),
    detail: z.string().nullable().describe("The provider's words when it was rejected"),
    statusCode: z.int().nullable(),
    durationMs: z.int(),
  })
  .meta({ id: 'AlertChannelTestResult' })

/** Outcomes of sends in the history. `muted` and `suppressed` were never sent. */
export const OUTCOMES = ['delivered', 'failed', 'muted', 'suppressed'] as const
export type Outcome = (typeof OUTCOMES)[number]

export const historyInput = z.object({
  ...pageInput,
  ...idCursorInput('alertDeliveries'),
  channelId: optional(z.guid()).describe('Only this channel, also if it was deleted'),
  eventKind: optional(z.enum(EVENT_KINDS)),
  outcome: optional(z.enum(OUTCOMES)),
})

/** One row of the history of sends. */
export const AlertDelivery = withExample(
  'AlertDelivery',
  z.object({
    id: z.int(),
    at: Timestamp.describe('When the send was queued; its retries do not change it'),
    eventKind: z.enum(EVENT_KINDS),
    severity: z.enum(SEVERITIES),
    subjectType: z.string(),
    subjectId: z.uuid(),
    subjectName: z.string(),
    channelId: z.uuid().nullable().describe('Null for plain e-mail'),
    channelName: z.string().nullable(),
    channelKind: z.string().describe('A channel kind, or `email`'),
    outcome: z.enum(OUTCOMES),
    detail: z.string().nullable(),
    statusCode: z.int().nullable(),
    durationMs: z.int().nullable(),
    count: z.int().describe('Running count of a dead-letter incident'),
    emailFallback: z.boolean().describe('Sent by e-mail because a channel was failing'),
    requestId: z.int().nullable(),
  }),
)
