import { z } from 'zod'
import { timeCursorInput } from '../api/cursors.ts'
import { withExample } from '../api/examples.ts'
import { pageInput } from '../api/pagination.ts'
import { optional, Timestamp } from '../api/values.ts'
import { MAX_PATH_LENGTH, parsePath } from '../engine/conditions/index.ts'
import { Counts } from './progress.ts'

/** Bounds of a value: a shorter one would be found in everything. */
const VALUE_CHARACTERS = { min: 3, max: 500 } as const
const PATHS_MAX = 50

const PathText = z
  .string()
  .max(MAX_PATH_LENGTH * 2)
  .superRefine((text, context) => {
    const parsed = parsePath(text, { every: true, deliveryFacts: false })
    if ('path' in parsed) return
    const { code, reason } = parsed.problem
    context.addIssue({ code: 'custom', params: { code }, message: reason })
  })

export const startInput = z.object({
  value: z
    .string()
    .trim()
    .min(VALUE_CHARACTERS.min)
    .max(VALUE_CHARACTERS.max)
    .describe('Found as a whole word, without case; it is not stored longer than the erasure runs'),
  paths: optional(z.array(PathText).max(PATHS_MAX)).describe(
    'Captures hold the value only where it is at one of these paths, like `body.data.email`; default anywhere',
  ),
  mode: z
    .enum(['delete', 'redact'])
    .default('delete')
    .describe('`redact` leaves a trace of each capture: method, time, size and verdict'),
  dryRun: z.boolean().default(false).describe('Counts, and changes nothing'),
})

/** Input of the list: pages by number or by cursor. */
export const listInput = z.object({ ...pageInput, ...timeCursorInput('erasures') })

export const erasureInput = z.object({
  erasureId: z.string().meta({ format: 'uuid', description: 'Id of the erasure' }),
})

export const Erasure = withExample(
  'Erasure',
  z.object({
    id: z.uuid(),
    state: z.enum(['queued', 'running', 'done', 'failed']),
    dryRun: z.boolean(),
    mode: z.enum(['delete', 'redact']),
    valueHash: z
      .string()
      .describe('HMAC-SHA256 of the value with the key of the workspace, as a `hash` step makes it'),
    paths: z.array(z.string()),
    counts: Counts.describe('What held the value: so far, or in all when `done`'),
    progress: z.object({
      scannedRequests: z.int(),
      scannedAttempts: z.int(),
      partsLeft: z.int().describe('Parts of the work that are to do; two for each endpoint'),
    }),
    endpoints: z
      .array(z.object({ endpointId: z.uuid(), requests: z.int() }))
      .describe('Endpoints with captures that held the value'),
    createdAt: Timestamp,
    finishedAt: Timestamp.nullable(),
  }),
)
