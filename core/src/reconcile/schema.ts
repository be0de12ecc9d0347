import { z } from 'zod'
import { timeCursorInput } from '../api/cursors.ts'
import { withExample } from '../api/examples.ts'
import { pageInput } from '../api/pagination.ts'
import { endpointId, InstantInput, Int64, optional, Timestamp } from '../api/values.ts'
import { RUN_ERRORS, type RunErrorCode } from './senders/index.ts'

const RUN_STATES = ['queued', 'running', 'done', 'failed'] as const

const LISTING_SENDERS = ['stripe', 'github'] as const

/** The most types that Stripe takes in one call. */
const TYPES_MAX = 20

/** Printable characters without blanks, which a header holds unchanged. */
const Token = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[\x21-\x7e]+$/)

const Credentials = z
  .strictObject({
    apiKey: optional(Token).describe('Stripe: a secret key, or a restricted key that may read events'),
    token: optional(Token).describe('GitHub: a token that may write the hook'),
    hookUrl: optional(z.string().max(600)).describe(
      'GitHub: the API URL of the hook, such as `https://api.github.com/repos/octo/app/hooks/1`',
    ),
  })
  .describe(
    'For the provider of the endpoint: `{"apiKey"}` or `{"token", "hookUrl"}`. For this run only: stored encrypted, erased at its end, never shown',
  )

export const startInput = z.object({
  endpointId,
  credentials: Credentials,
  since: InstantInput.describe(
    'Events since this time, within the retention of the plan; the sender keeps its list for some days',
  ),
  until: optional(InstantInput).describe(
    'Events until this time; events of the last minute are always skipped',
  ),
  types: optional(z.array(z.string().min(1).max(200)).max(TYPES_MAX)).describe(
    'Only events of these types; left out or empty: of all types',
  ),
  dryRun: optional(z.boolean()).describe('Only count missing events; fetch nothing'),
})
/** {@link startInput} after parsing. */
export type StartInput = z.output<typeof startInput>

export const listInput = z.object({ endpointId, ...pageInput, ...timeCursorInput('reconciliations') })

export const getInput = z.object({
  endpointId,
  reconciliationId: z.string().meta({ format: 'uuid', description: 'Id of the reconciliation' }),
})

const count = (description: string) => z.int().describe(description)
const errorCodes = Object.keys(RUN_ERRORS) as [RunErrorCode, ...RunErrorCode[]]

/** A run, as the API shows it. */
export const Reconciliation = withExample(
  'Reconciliation',
  z.object({
    id: z.uuid(),
    endpointId: z.uuid(),
    sender: z.enum(LISTING_SENDERS),
    state: z.enum(RUN_STATES).describe('`queued` while another runs: one at a time per endpoint'),
    since: Timestamp,
    until: Timestamp.describe('Later events may still arrive, and are skipped'),
    types: z.array(z.string()),
    dryRun: z.boolean(),
    complete: z
      .boolean()
      .describe('Whether the list was read to its end. If not, only the newest events were compared'),
    counts: z.object({
      listed: count('Different events that the sender lists'),
      found: count('Of these, already captured'),
      missing: count('Of these, never captured'),
      tooOld: count('Of these, older than the oldest stored capture: not compared'),
      redelivered: count('Missing events that the sender accepted to send again'),
      captured: count('Missing events that were captured from the list'),
      refused: count('Missing events that the sender refused'),
      outstanding: z
        .int()
        .nullable()
        .describe(
          'Missing events that had not arrived at the end of the run, or that `dedupe` discards; null while it runs',
        ),
    }),
    missingTypes: z
      .array(z.object({ type: z.string(), count: z.int() }))
      .describe('Types of the missing events, most frequent first, at most 20'),
    error: z
      .object({ code: z.enum(errorCodes), detail: z.string() })
      .nullable()
      .describe('Reason of a `failed` run; events that it fetched stay'),
    createdAt: Timestamp,
    startedAt: Timestamp.nullable(),
    finishedAt: Timestamp.nullable(),
  }),
)

/** Input of the route that shows gaps. */
export const gapsInput = z.object({
  endpointId,
  since: optional(InstantInput).describe('Only gaps that end in a capture since this time'),
})

/** Gaps: numbers that are missing between captures. */
export const Gaps = withExample(
  'Gaps',
  z.object({
    sequence: z
      .boolean()
      .describe("Whether event ids of the endpoint's provider are a sequence; if not, no gap can be seen"),
    missingCount: count('Numbers that are missing in all of `items`'),
    items: z
      .array(
        z.object({
          firstMissing: z.string().describe('As text: it may be longer than a double holds'),
          lastMissing: z.string(),
          count: z.int(),
          beforeRequestId: Int64.describe('The capture with the number before the gap'),
          afterRequestId: Int64.describe('The capture with the number behind it'),
          from: Timestamp,
          to: Timestamp,
        }),
      )
      .describe('Newest first, at most 100'),
  }),
)
