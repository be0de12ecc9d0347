import { z } from 'zod'
import { withExample } from '../api/examples.ts'
import { optional, Timestamp } from '../api/values.ts'
import { CONDITION_OPS } from '../engine/conditions/index.ts'
import { VERIFICATION_FILTERS } from '../engine/words/index.ts'
import { DAY_MS } from '../platform/time/index.ts'

export const TYPES = { page: 100, max: 300 } as const

/** Bounds of a poll, and the pause that its answer asks for. */
export const POLL = { events: 100, waitSeconds: 20, nextPollMs: 5_000, waiting: 32 } as const

const PATH_CHARACTERS_MAX = 200

const Path = z.string().min(1).max(PATH_CHARACTERS_MAX)

/** Arguments of an event type: flat, because models fill flat lists better than nested conditions. All must hold. */
export const EventArguments = z
  .strictObject({
    labels: z.array(z.string().min(1).max(200)).min(1).max(20).optional().describe('One of these labels'),
    verification: z.enum(VERIFICATION_FILTERS).optional().describe('Result of the check of the signature'),
    where: z
      .array(z.strictObject({ path: Path, op: z.enum(CONDITION_OPS), value: z.unknown().optional() }))
      .max(10)
      .optional()
      .describe('Comparisons that must all hold, such as path `body.amount`, op `gt`, value 100'),
    fields: z
      .array(Path)
      .max(20)
      .optional()
      .describe('Paths to values that the events show, such as `body.amount`'),
  })
  .meta({ id: 'EventArguments' })

/** Arguments of an event type after parsing. */
export type EventArguments = z.output<typeof EventArguments>

const JsonSchema = z.record(z.string(), z.unknown())

/** An event type, as the Events extension of the Model Context Protocol describes one. */
export const EventType = withExample(
  'EventType',
  z.object({
    name: z.string().describe('Slug of the endpoint, a dot, and a label or `any`'),
    description: z.string(),
    delivery: z.array(z.enum(['poll', 'push', 'webhook'])).min(1),
    inputSchema: JsonSchema,
    payloadSchema: JsonSchema,
  }),
)

/** Data of an event. Values of `fields` are scalars; those called like credentials are masked. */
const EventData = z.object({
  requestId: z.int(),
  endpoint: z.string().meta({ format: 'uuid' }),
  label: z.string().nullable(),
  receivedAt: Timestamp,
  method: z.string(),
  verification: z.string(),
  resource: z.string().describe('URI of the whole request, for `resources/read`'),
  fields: z
    .record(z.string(), z.unknown())
    .describe(
      'Values by path: text, numbers, booleans, null. A number that a double would round is text with its digits',
    ),
})

/** One event: a captured request. */
export const Occurrence = withExample(
  'EventOccurrence',
  z.object({
    eventId: z.string(),
    name: z.string(),
    timestamp: Timestamp,
    data: EventData,
    cursor: z.string(),
  }),
)

/** One event before it is written: its times are dates. */
export type Occurrence = z.input<typeof Occurrence>

const EventName = z.string().min(1).max(200)

/** A position in an endpoint's events: opaque for clients, the id of a request for us. */
const EventCursor = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a cursor of an earlier answer')
  .transform(Number)

export const typesInput = z.object({
  cursor: optional(z.string().regex(/^\d{1,3}$/, 'must be `nextCursor` of an earlier page')).describe(
    '`nextCursor` of the page before',
  ),
})

/** An age of events: 50 years at most, as one of more years than the calendar has would make no date. */
const AgeMs = z
  .int()
  .min(0)
  .transform((age) => Math.min(age, 50 * 365 * DAY_MS))

/** Members that say which events are meant, and from where on. */
export const eventsMembers = {
  name: EventName.describe('Name of the event type'),
  arguments: EventArguments.nullish(),
  cursor: EventCursor.nullish().describe('Where to go on; null or absent: now'),
  maxAgeMs: AgeMs.nullish().describe('Older events are skipped'),
}

/** Input of a poll: the type, the arguments, the position, and how long the call waits for an event. */
export const pollInput = z.object({
  ...eventsMembers,
  maxEvents: z.int().min(1).max(POLL.events).nullish(),
  waitSeconds: z
    .int()
    .min(0)
    .max(POLL.waitSeconds)
    .default(0)
    .describe('Waits so long for an event; default 0'),
})

export const PollResult = z.object({
  events: z.array(Occurrence).max(POLL.events),
  cursor: z.string(),
  truncated: z.boolean().describe('Events that matched may have been skipped'),
  hasMore: z.boolean(),
  nextPollMs: z.int(),
})
