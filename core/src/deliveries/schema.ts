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
  ...idCursorInput('deliveries'),
  state: optional(z.enum(ATTEMPT_STATES)).describe('Only attempts in this state'),
  requestId: optional(Int64Filter).describe('Only attempts of this request'),
  actionId: optional(z.guid().toLowerCase()).describe('Only attempts of this action'),
}

const summary = {
  id: Int64.describe('Id for the detail route'),
  requestId: Int64,
  label: z.string().nullable().describe('Event type of the request; null: none, or the request is gone'),
  actionId: z.uuid().nullable().describe('Null once the action was deleted'),
  actionName: z.string(),
  kind: z.string(),
  state: z.enum(ATTEMPT_STATES),
  statusCode: z.int().nullable(),
  error: z
    .string()
    .nullable()
    .describe('Null when it succeeded; starts with a stable word: http_404, timeout, dns, …'),
  url: z.string(),
  at: Timestamp.describe('When it began'),
  finishedAt: Timestamp.nullable(),
  durationMs: z.int().nullable(),
  attemptNumber: z.int(),
  trigger: z.enum(TRIGGERS),
  nextAttemptAt: Timestamp.nullable(),
  hasDetail: z.boolean().describe('Whether the full record exists'),
  transformed: z.boolean(),
  transformationVersion: z
    .int()
    .nullable()
    .describe('Set when exactly one rule was in force; with several, `transformNote` names each'),
}

/** An attempt as lists show it. */
export const DeliveryAttempt = withExample('DeliveryAttempt', z.object(summary))

const recorded = {
  headers: byName(z.string()).describe('By name; repeats joined with ", "'),
  rawHeaders: z
    .array(z.object({ name: z.string(), value: z.string() }))
    .describe('As on the wire: order, spelling and repeats'),
  body: z.string().nullable().describe('Text, or base64 when `bodyIsBinary`; null when empty'),
  bodyIsBinary: z.boolean(),
  decodedBody: DecodedBody.describe('The body as it is read, if it is encoded. Null for others'),
  bodyTruncated: z.boolean().describe('Longer than 256 KB: only the beginning is kept'),
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
