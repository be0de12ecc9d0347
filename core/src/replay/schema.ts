import { z } from 'zod'
import { withExample } from '../api/examples.ts'
import { Int64, Timestamp } from '../api/values.ts'
import { ATTEMPT_STATES, attemptStateOf } from '../engine/words/index.ts'
import type { Replay } from './replayRequest.ts'

const Outcome = z.object({
  actionId: z.uuid(),
  actionName: z.string(),
  kind: z.string(),
  attemptId: Int64.nullable().describe('Null when the action was skipped'),
  state: z.enum([...ATTEMPT_STATES, 'Skipped']),
  statusCode: z.int().nullable(),
  error: z.string().nullable(),
  url: z.string().nullable(),
  at: Timestamp.nullable(),
  durationMs: z.int().nullable(),
  transformed: z.boolean(),
  transformationVersion: z.int().nullable(),
})

const ofOnly = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullable().describe('Value of the only outcome; null when there are several')

export const ReplayResult = withExample(
  'ReplayResult',
  z.object({
    requestId: Int64,
    state: z.enum(['Succeeded', 'Failed', 'Errored', 'Skipped', 'Pending']),
    attemptId: ofOnly(Int64),
    statusCode: ofOnly(z.int()),
    error: ofOnly(z.string()),
    outcomes: z.array(Outcome).describe('In action position order'),
    listenerCount: z
      .int()
      .optional()
      .describe(
        'With `to=listeners`: the number of listeners. `Pending` until they report; `Skipped` when there is none',
      ),
  }),
)

export const BulkReplayResult = z
  .object({
    queuedCount: z.int().describe('Requests queued'),
    deliveryCount: z.int().describe('Deliveries made of them'),
    skippedCount: z.int().describe('Ids passed over'),
  })
  .meta({ id: 'BulkReplayResult' })

/** A replay in the API's format. */
export function replayView({ state, outcomes }: Replay, requestId: number): z.input<typeof ReplayResult> {
  const only = outcomes.length === 1 ? outcomes[0]?.attempt : undefined
  return {
    requestId,
    state,
    attemptId: only?.id ?? null,
    statusCode: only?.statusCode ?? null,
    error: only?.error ?? null,
    outcomes: outcomes.map(({ action, attempt }) => ({
      actionId: action.id,
      actionName: action.name,
      kind: action.kind,
      attemptId: attempt?.id ?? null,
      state: attempt === null ? 'Skipped' : attemptStateOf(attempt.state),
      statusCode: attempt?.statusCode ?? null,
      error: attempt?.error ?? null,
      url: attempt?.url ?? null,
      at: attempt?.at ?? null,
      durationMs: attempt?.durationMs ?? null,
      transformed: attempt?.transformed ?? false,
      transformationVersion: attempt?.transformationVersion ?? null,
    })),
  }
}
