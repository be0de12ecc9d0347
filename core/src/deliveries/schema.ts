import { z } from 'zod'
import { idCursorInput } from '../api/cursors.ts'
import { withExample } from '../api/examples.ts'
import { pageInput } from '../api/pagination.ts'
import { byName, Int64, Int64Filter, optional, Timestamp } from '../api/values.ts'
import { ATTEMPT_STATES } from '../engine/words/index.ts'
import { DecodedBody } from '../requests/index.ts'
import { TRIGGERS } from './states.ts'

/** Paging and filters of the list of attempts; filters combine with AND. */
export const listInput = {
  ...pageInput,
  ...idCursorInput,
  state: optional(z.enum(ATTEMPT_STATES)).meta({ description: 'Only attempts in this state' }),
  requestId: optional(Int64Filter).meta({ description: 'Only attempts of this request' }),
  actionId: optional(z.guid().toLowerCase()).meta({ description: 'Only attempts of this action' }),
}

const summary = {
  id: Int64.meta({ description: 'Id for the detail route' }),
  requestId: Int64,
  label: z
    .string()
    .nullable()
    .meta({ description: 'Event type of the request; null: none, or the request is gone' }),
  actionId: z.uuid().nullable().meta({ description: 'Null once the action was deleted' }),
  actionName: z.string(),
  kind: z.string(),
  state: z.enum(ATTEMPT_STATES),
  statusCode: z.int().nullable(),
  error: z.string().nullable().meta({
    description: 'Null when it succeeded; starts with a stable word: http_404, timeout, dns, …',
  }),
  url: z.string(),
  at: Timestamp.meta({ description: 'When it began' }),
  finishedAt: Timestamp.nullable(),
  durationMs: z.int().nullable(),
  attemptNumber: z.int(),
  trigger: z.enum(TRIGGERS),
  nextAttemptAt: Timestamp.nullable(),
  hasDetail: z.boolean().meta({ description: 'Whether the full record exists' }),
  transformed: z.boolean(),
  transformationVersion: z.int().nullable().meta({
    description: 'Set when exactly one rule was in force; with several, `transformNote` names each',
  }),
}

/** An attempt as lists show it. */
export const DeliveryAttempt = withExample('DeliveryAttempt', z.object(summary))

const recorded = {
  headers: byName(z.string()).meta({ description: 'By name; repeats joined with ", "' }),
  rawHeaders: z
    .array(z.object({ name: z.string(), value: z.string() }))
    .meta({ description: 'As on the wire: order, spelling and repeats' }),
  body: z.string().nullable().meta({ description: 'Text, or base64 when `bodyIsBinary`; null when empty' }),
  bodyIsBinary: z.boolean(),
  decodedBody: DecodedBody.meta({ description: 'The body as it is read, if it is encoded. Null for others' }),
  bodyTruncated: z.boolean().meta({ description: 'Longer than 256 KB: only the beginning is kept' }),
}

/** An attempt with exactly what was sent and received. */
export const DeliveryAttemptDetail = z
  .object({
    ...summary,
    endpointId: z.uuid(),
    transformNote: z.string().nullable(),
    sent: z.object({ method: z.string(), url: z.string(), ...recorded }).nullable(),
    received: z.object({ statusCode: z.int(), contentType: z.string().nullable(), ...recorded }).nullable(),
  })
  .meta({ id: 'DeliveryAttemptDetail' })
