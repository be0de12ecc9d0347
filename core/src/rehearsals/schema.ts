import { z } from 'zod'
import { timeCursorInput } from '../api/cursors.ts'
import { withExample } from '../api/examples.ts'
import { pageInput } from '../api/pagination.ts'
import { endpointId, Int64, optional, Timestamp } from '../api/values.ts'
import { shownJson } from '../engine/json/index.ts'
import { filterInput } from '../requests/index.ts'
import { PER_SECOND_DEFAULT, REQUESTS_MAX, SHOWN_MAX } from './declarations.ts'

/** States of a replay, in their order. */
const REPLAY_STATES = ['queued', 'running', 'paused', 'done', 'cancelled', 'failed'] as const
export type ReplayState = (typeof REPLAY_STATES)[number]

export const ORDERS = ['arrival', 'shuffled'] as const
export type Order = (typeof ORDERS)[number]

/** Faults of a send, made on purpose. */
export const FAULTS = ['duplicate', 'reorder', 'late', 'bad-signature'] as const
export type Fault = (typeof FAULTS)[number]

/** Sources of the signature. */
export const SIGNERS = ['as-captured', 'creel', 'provider'] as const

export const OUTCOMES = ['equal', 'changed', 'failed', 'slower'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** States of one send. `errored`: it could not be sent, and `error` says why. */
const ITEM_STATES = ['waiting', 'sending', 'done', 'errored'] as const

const replayId = z.string().meta({ format: 'uuid', description: 'Id of the replay' })

const Share = z.number().min(0).max(1)

const Faults = z
  .strictObject({
    duplicate: optional(Share).describe('Share of requests that are sent twice in a row'),
    reorder: optional(Share).describe('Share of requests that change places with the next one'),
    late: optional(z.strictObject({ share: Share, bySeconds: z.number().min(1).max(86_400) })).describe(
      'Share of requests that come later; the time is divided by `pace.speed`',
    ),
    badSignature: optional(Share).describe('Share of requests whose signature is wrong'),
    drop: optional(Share).describe('Share of requests that are not sent'),
  })
  .refine(
    ({ duplicate = 0, reorder = 0, late, badSignature = 0, drop = 0 }) =>
      duplicate + reorder + (late?.share ?? 0) + badSignature + drop <= 1.000_001,
    {
      params: { code: 'out_of_range' },
      message: 'The shares of all faults together must be at most 1: a request has one fault.',
    },
  )
export type Faults = Partial<z.output<typeof Faults>>

const Pace = z.union([
  z.strictObject({
    speed: z.number().min(0.1).max(10_000).describe('Multiple of the original pace'),
  }),
  z.strictObject({ perSecond: z.number().min(0.01).max(1000) }),
])
export type Pace = z.output<typeof Pace>

const Target = z.union([
  z.strictObject({
    actionId: z
      .guid()
      .toLowerCase()
      .describe('Through this forward action, on its terms, whatever its condition'),
  }),
  z.strictObject({
    url: z.string().min(1).max(2048),
    appendPath: optional(z.boolean()).describe(
      'Whether the captured path and query follow those of the URL; default false',
    ),
  }),
  z.strictObject({
    listeners: z
      .literal(true)
      .describe(
        'To programs that take the requests with `take` and report with `answer`, such as `creel rehearse`',
      ),
  }),
])

const Selection = z.strictObject({
  requestIds: optional(z.array(Int64).min(1).max(REQUESTS_MAX)).describe('These requests'),
  filter: optional(z.strictObject(filterInput)).describe(
    'All requests that match, as in the list; a `label` may end with `*`',
  ),
  sample: optional(z.int().min(1).max(REQUESTS_MAX)).describe(
    `At most so many of them, chosen at random by \`seed\`; default ${REQUESTS_MAX.toLocaleString('en')}, the newest`,
  ),
})

const BASELINES = ['recorded', 'first'] as const

const Comparing = z.strictObject({
  with: z
    .union([z.enum(BASELINES), z.guid().toLowerCase()])
    .describe(
      '`recorded`: the newest recorded answer of one action to the request. `first`: the answer to the first send of a duplicate; the second is sent once the first is answered. An id: the answers of that replay; members that differ between its duplicates are ignored',
    ),
  actionId: optional(z.guid().toLowerCase()).describe(
    'With `recorded`: the forward action whose answers are the baseline; default that of `to.actionId`, else the only one of the endpoint. Needed where there are several',
  ),
  ignore: optional(z.array(z.string().min(1).max(200)).max(100)).describe(
    'Paths that may differ, like `status`, `headers.date`, `body.id` or `body.items[].id`; what lies below a path may differ, too',
  ),
})

export const startInput = z.object({
  endpointId,
  select: Selection,
  to: Target,
  order: z.enum(ORDERS).default('arrival'),
  pace: Pace.nullish().describe(`\`{"speed"}\` or \`{"perSecond"}\`; default ${PER_SECOND_DEFAULT} a second`),
  edit: z.unknown().optional().describe('A rule document that is applied to each request'),
  sign: z
    .enum(SIGNERS)
    .default('as-captured')
    .describe(
      '`as-captured` sends the captured signature. `creel` signs with the secret of the action. `provider` signs with the secret of the endpoint and a fresh time, as its provider does',
    ),
  faults: optional(Faults),
  seed: optional(z.int().min(0).max(4_294_967_295)).describe(
    'The same seed gives the same replay; default a new one, which the answer names',
  ),
  compare: optional(Comparing),
  concurrency: z.int().min(1).max(64).default(1).describe('Requests under way at once; 1 keeps the order'),
  timeoutSeconds: optional(z.int().min(1).max(300)).describe(
    'Time limit of one send; default that of the action, or 15',
  ),
  dryRun: optional(z.boolean()).describe('Only answers what would be sent'),
})
export type StartInput = z.output<typeof startInput>

export const listInput = z.object({ endpointId, ...pageInput, ...timeCursorInput('replays') })

export const getInput = z.object({ endpointId, replayId })

const count = (description: string) => z.int().describe(description)

export const ReplayRun = withExample(
  'ReplayRun',
  z.object({
    id: z.uuid(),
    endpointId: z.uuid(),
    state: z
      .enum(REPLAY_STATES)
      .describe(
        '`queued`: the service sends two replays of a workspace at once; those for listeners do not count. `failed`: `reason` says why',
      ),
    reason: z.string().nullable(),
    to: z.unknown().describe('As it was given'),
    order: z.enum(ORDERS),
    sign: z.enum(SIGNERS),
    seed: z.int(),
    concurrency: z.int(),
    compare: z
      .unknown()
      .describe('As it was given, with the action whose recorded answers count; null without'),
    counts: z.object({
      requests: count('Requests that were chosen'),
      dropped: count('Requests that are left out on purpose'),
      sends: count('Sends in all; a duplicate is two'),
      waiting: count('Sends that are not done'),
      done: count('Sends with an answer or without one'),
      errored: count('Sends that could not be made'),
      equal: count('Answers equal to their baseline'),
      changed: count('Answers that differ'),
      failed: count('No answer, or a 5xx where the baseline has none'),
      slower: count('Equal answers that took over twice as long, and 100 ms more'),
      uncompared: count(
        'Answers that were not compared: there is no baseline, or headers or a body were not kept; 0 without `compare`',
      ),
    }),
    plannedMs: z.int().describe('Time of the last send, from the start, by the pace'),
    createdAt: Timestamp,
    startedAt: Timestamp.nullable(),
    finishedAt: Timestamp.nullable(),
  }),
)

const headers = z.array(z.object({ name: z.string(), value: z.string() }))

const OutgoingRequest = withExample(
  'OutgoingRequest',
  z.object({
    position: z.int().describe('Place in the replay, from 1'),
    requestId: Int64,
    fault: z.enum(FAULTS).nullable(),
    copy: z.int().describe('1 for the second send of a duplicate'),
    dueMs: z.int().describe('Time of the send, from the start'),
    method: z.string(),
    path: z.string().describe('Captured path below the capture URL'),
    query: z.string().nullable(),
    headers: headers.describe('In wire order; values as text'),
    body: z.string().describe('Base64'),
    error: z.string().nullable().describe('Why it cannot be sent, or cannot be signed'),
  }),
)

/** Answer of the route that starts a replay: the replay, or what a dry run found. */
export const Started = z.object({
  replay: ReplayRun.nullable().describe('Null for a dry run'),
  requestCount: z.int().describe('Requests that were chosen'),
  matchedCount: z.int().describe('Requests that match; over `requestCount` if a sample was taken'),
  sendCount: z.int(),
  droppedCount: z.int(),
  plannedMs: z.int(),
  seed: z.int(),
  shown: z
    .array(OutgoingRequest)
    .max(SHOWN_MAX)
    .describe(
      `Of a dry run: the first ${SHOWN_MAX} requests as they would go out; fewer if their bodies have over 16 MB`,
    ),
  unsignedCount: z
    .int()
    .describe('Of a dry run with `sign: "provider"`: requests among those shown that cannot be signed'),
})

export const resultsInput = z.object({
  endpointId,
  replayId,
  outcome: optional(z.enum(OUTCOMES)),
  state: optional(z.enum(ITEM_STATES)),
  afterPosition: optional(z.int().min(0)).describe('`next` of the page before'),
  limit: z.int().min(1).max(100).default(50).describe('Items a page'),
})

/** A difference between an answer and its baseline. */
export const Difference = z.object({
  path: z.string().describe('Like `status`, `headers.location` or `body.items[0].id`'),
  before: z.unknown(),
  after: z.unknown(),
  missing: z
    .enum(['before', 'after'])
    .nullable()
    .default(null)
    .describe('The side without a value, which is null there'),
})
export type Difference = z.output<typeof Difference>

/** Reads differences from their column; numbers keep their digits. */
export function storedDifferences(text: string | null): readonly Difference[] {
  return text === null ? [] : z.array(Difference).parse(shownJson(text))
}

export const ReplayResultItem = withExample(
  'ReplayResultItem',
  z.object({
    position: z.int(),
    requestId: Int64,
    fault: z.enum(FAULTS).nullable(),
    copy: z.int(),
    state: z.enum(ITEM_STATES),
    outcome: z.enum(OUTCOMES).nullable().describe('Null if it was not compared'),
    dueMs: z.int(),
    sentAt: Timestamp.nullable(),
    durationMs: z.int().nullable(),
    statusCode: z.int().nullable(),
    error: z.string().nullable(),
    headers: headers.nullable().describe('Null if not kept'),
    body: z.string().nullable().describe('Text, or base64 when `bodyIsBinary`; null if not kept'),
    bodyIsBinary: z.boolean(),
    differences: z.array(Difference).describe('Empty if not kept'),
  }),
)

export const ReplayResults = z.object({
  items: z.array(ReplayResultItem),
  next: z.int().nullable().describe('Give it as `afterPosition`; null after the last'),
})

/** Formats of a report: `junit` is XML for test runners, `md` is Markdown. */
const REPORT_FORMATS = ['junit', 'md'] as const

export const reportInput = z.object({ endpointId, replayId, format: z.enum(REPORT_FORMATS) })

export const takeInput = z.object({
  endpointId,
  replayId,
  max: z.int().min(1).max(64).default(1),
  waitSeconds: z.int().min(0).max(20).default(0).describe('Waits so long for a request to become due'),
})

export const Taken = z.object({
  items: z.array(OutgoingRequest).describe('At most `max`; several have at most 16 MB of bodies'),
  state: z.enum(REPLAY_STATES).describe('Take again while it is `running`, `queued` or `paused`'),
})

export const answerInput = z.object({
  endpointId,
  replayId,
  position: z.int().min(1),
  durationMs: z.int().min(0).max(86_400_000),
  error: optional(z.string().min(1).max(500)).describe('Why there was no answer'),
  received: optional(
    z.object({
      statusCode: z.int().min(100).max(599),
      headers: z.array(z.object({ name: z.string(), value: z.string().max(65_536) })).max(300),
      body: z.string().max(700_000).describe('Base64'),
    }),
  ),
})

export const followEvents = {
  progress: ReplayRun,
  ended: z.object({ state: z.enum(REPLAY_STATES), reason: z.string().nullable() }).describe('The last event'),
}
