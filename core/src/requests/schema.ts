import { z } from 'zod'
import { Download } from '../api/contract.ts'
import { notedCursorInput } from '../api/cursors.ts'
import { withExample } from '../api/examples.ts'
import { pageInput } from '../api/pagination.ts'
import { byName, InstantInput, Int64, Int64Filter, optional, REFUSED, Timestamp } from '../api/values.ts'
import { type InputIssue, issue } from '../engine/issues.ts'
import { BODY_KINDS, DECODING_FAULTS } from '../engine/message/index.ts'
import { storedEventId } from '../engine/verification/index.ts'
import { REQUEST_STATES, VERDICTS, VERIFICATION_FILTERS } from '../engine/words/index.ts'
import { VALUE_TYPES } from './shape.ts'
import { SENDER_ATTEMPT_MAX } from './state.ts'

/** The longest event id that a query string can hold together with other filters. */
const EVENT_ID_CHARACTERS_MAX = 2_000

/** Number of actions by the result of the newest attempt of each. */
export const DeliveryCounts = z
  .object({
    succeeded: z.int(),
    failed: z.int().describe('The newest attempt failed; another one may follow'),
    waiting: z.int().describe('An attempt is under way, or the first one is due'),
    deadLettered: z.int().describe('Nothing more is sent until a replay'),
  })
  .meta({
    id: 'DeliveryCounts',
    description:
      'Number of actions by the result of the newest attempt of each, replays included. Deleted actions, rehearsals and edited requests do not count',
  })

/** The filters of list, await and follow. They combine with AND. */
export const filterInput = {
  method: optional(z.string().min(1).max(32)).describe('HTTP method, without case'),
  state: optional(z.enum(REQUEST_STATES)).describe('Latest delivery state'),
  needsAttention: optional(z.boolean()).describe(
    '`true`: the newest attempt of some action failed or is a dead letter (`deliveryCounts`), whatever `state` is; `false`: the others',
  ),
  deadLettered: optional(z.boolean()).describe(
    '`true`: the newest attempt of some action is a dead letter; `false`: the others',
  ),
  q: optional(z.string().min(1).max(200)).describe(
    'Text found in path, query string, header values or text body, without case',
  ),
  since: optional(InstantInput).describe('Received at or after'),
  until: optional(InstantInput).describe('Received before'),
  afterId: optional(Int64Filter).describe('Only requests with a greater id'),
  verification: optional(z.enum(VERIFICATION_FILTERS)).describe('`none`: nothing was checked'),
  label: optional(z.string().min(1).max(200)).describe('Exact event type'),
  eventId: optional(z.string().min(1).max(EVENT_ID_CHARACTERS_MAX).transform(storedEventId)).describe(
    'Exact event id of the sender; also an id that is too long to be stored unchanged',
  ),
  duplicate: optional(z.boolean()).describe(
    '`true`: only duplicates by `dedupe` of the endpoint; `false`: none of them',
  ),
}

/** Names of all members that narrow a list: its filters, and the ids and cursors at which it begins or ends. */
const NARROWING = [...Object.keys(filterInput), 'beforeId', 'before', 'after']

/**
 * Members for calls that refuse filters, so that a call with a filter fails and does not affect more requests than
 * meant. The description of the API leaves them out.
 */
export const refusedFilters = Object.fromEntries(
  NARROWING.map((name) => [
    name,
    z
      .unknown()
      .optional()
      .meta({ [REFUSED]: true }),
  ]),
)

/** One issue for each filter in the input of a call that takes none. */
export function issuesOfFilters(input: object): InputIssue[] {
  return NARROWING.filter((name) => Reflect.get(input, name) !== undefined).map((name) =>
    issue([name], 'not_allowed', `${name} is not taken here: every stored request is meant.`),
  )
}

/** Filter for older requests, so that pages do not shift while others arrive. */
export const beforeId = optional(Int64Filter).describe('Only requests with a lower id')

const ORDERS = ['asc', 'desc'] as const

/** One of {@link ORDERS}. */
export type Order = (typeof ORDERS)[number]

/** Input of the list of requests without the endpoint: filters, paging and `beforeId`. */
export const listInput = {
  ...filterInput,
  ...pageInput,
  ...notedCursorInput('requests'),
  beforeId,
  order: z
    .enum(ORDERS)
    .default('desc')
    .describe(
      '`desc`: newest first. `asc`: oldest first, for clients that follow by `afterId`. `next`, as `before`, goes on in the order',
    ),
  partial: optional(z.boolean()).describe(
    'A search may end at its time limit, with the matches so far; `next` continues it. Always so with `before` or `after`',
  ),
}

const filters = z.object(filterInput)
/** The filters of list and await after parsing. */
export type RequestFilters = z.output<typeof filters>

/** {@link RequestFilters} with the filter that only lists take. */
export type ListFilters = RequestFilters & { readonly beforeId?: number | undefined }

/** The kinds of `answeredBy`. */
const ANSWER_KINDS = ['response', 'action', 'fallback', 'endpoint'] as const

const NOTE_CHARACTERS_MAX = 2_000

/** Text that people keep beside a request. */
export const Note = z.string().trim().max(NOTE_CHARACTERS_MAX)

const AnsweredBy = z
  .object({
    kind: z.enum(ANSWER_KINDS),
    index: z.int().nullable().describe('Index in `responses` of the endpoint; null for other kinds'),
    note: z.string().nullable().describe('Why another answer could not be given'),
  })
  .meta({ id: 'AnsweredBy' })

const summary = {
  id: Int64,
  endpointId: z.uuid(),
  receivedAt: Timestamp,
  method: z.string(),
  path: z.string(),
  contentType: z.string().nullable(),
  sizeBytes: z.int(),
  ip: z.string().nullable(),
  userAgent: z.string().nullable(),
  label: z.string().nullable(),
  eventId: z
    .string()
    .nullable()
    .describe(
      "The sender's own id of the event, the same each time it is sent; of one over 200 bytes `sha256:` and its digest in hex. Null where there is none",
    ),
  senderAttempt: z
    .int()
    .min(1)
    .max(SENDER_ATTEMPT_MAX)
    .nullable()
    .describe(
      `Attempt number of the sender: requests with this event id that are stored, this one included; ${SENDER_ATTEMPT_MAX}: that or more. Null without \`eventId\`, and for \`imported\``,
    ),
  firstRequestId: Int64.nullable().describe(
    'The first stored request of the same event; null for the first itself',
  ),
  duplicateOf: Int64.nullable().describe(
    'With `dedupe` of the endpoint: the request that came first, of which this is a duplicate; that one may be gone. Null for the first',
  ),
  redacted: z
    .boolean()
    .describe(
      'Whether `storeRules` or `dropHeaders` of the endpoint took something out before it was stored',
    ),
  redactedPaths: z.array(z.string()).describe('The paths that were taken out, as the rules name them'),
  redactionFault: z
    .string()
    .nullable()
    .describe('The rule that faulted: only a trace without body and query is stored. Null otherwise'),
  sealed: z
    .boolean()
    .describe('Its content is encrypted at rest (`encryptBodies`): searches of text do not find it'),
  shredded: z
    .boolean()
    .describe(
      'The key of its content was destroyed: path, query, header values, body and preview are gone for ever, and replays answer 409 `shredded`',
    ),
  bodyTruncated: z.boolean().describe('An oversize trace: only a prefix of the body is kept'),
  bodyIsBinary: z.boolean(),
  bodyPreview: z.string().nullable().describe('First 200 characters of a text body'),
  columns: byName(z.string()).describe(
    'Values at the paths of `columns` of the endpoint, by path, as they are stored; their first 80 characters. Absent: lists, objects, values that are not there, and all of a request whose content is encrypted',
  ),
  note: z.string().nullable().describe('What people noted on it; null without one'),
  verification: z.object({ verdict: z.enum(VERDICTS), note: z.string() }).nullable(),
  state: z.enum(REQUEST_STATES).describe('State of the latest delivery, whichever its action'),
  attemptCount: z.int(),
  deliveryCounts: DeliveryCounts,
  imported: z.boolean().describe('It did not arrive here: it was imported, and was never dispatched'),
  reconciled: z
    .boolean()
    .describe(
      "It did not arrive here: a reconciliation fetched it from its sender's list. It was dispatched like any other",
    ),
  answeredBy: AnsweredBy.nullable().describe(
    "What answered the sender in place of the endpoint's own answer: a scripted response, the receiver of an action, or its fallback. Null: the endpoint",
  ),
}

const summaryObject = z.object(summary)

/** A captured request without its body, as lists show it. */
export const RequestSummary = withExample('CapturedRequestSummary', summaryObject)

/** Members of a request as received that a summary lacks. */
const content = {
  url: z.string(),
  queryString: z.string().nullable(),
  rawHeaders: z.array(
    z.object({
      name: z.string(),
      value: z.string(),
      encoding: z
        .literal('latin1')
        .optional()
        .describe('Only where the value is not UTF-8: then each character of `value` is one byte'),
    }),
  ),
  body: z.string().nullable().describe('Text, or base64 when `bodyIsBinary`; null when empty'),
}

export const searchMember = {
  search: z
    .object({
      complete: z
        .boolean()
        .describe(
          'Whether all requests after the cursor were searched; always true without a cursor and `partial`. If not, `next` continues the search, also from a page that is not full',
        ),
      lookedThrough: z.int().describe('Number of stored requests that this call searched'),
      matchedCount: z.int().describe('Number of matches among them'),
      sealed: z
        .boolean()
        .describe(
          'Text was searched, and the endpoint has requests whose content is encrypted (`encryptBodies`): `q` does not find these, all other filters do',
        ),
      totalCount: z
        .int()
        .nullable()
        .describe(
          'Everything that matches; null when not all of it was looked through: then `totalCount` of the page is an estimate',
        ),
    })
    .nullable()
    .describe('Null without filters'),
}

/** An encoded body as it is read. Null for bodies that are not encoded, were left out, or were cut. */
export const DecodedBody = z
  .object({
    encoding: z.string().describe('`Content-Encoding`'),
    text: z.string().nullable().describe('Null for bytes that are no text, and over 1 MiB'),
    sizeBytes: z.int().nullable().describe('Length of the decoded body'),
    fault: z
      .enum(DECODING_FAULTS)
      .nullable()
      .describe('Why the body is read as it came; `too_long`: over 16 times its length, or 10 MiB'),
  })
  .meta({ id: 'DecodedBody' })
  .nullable()

/** A request as received, for clients that forward it. */
export const WholeRequest = z.object({ ...summary, ...content }).meta({ id: 'WholeRequest' })

/** A captured request with its body, headers and deliveries. */
export const RequestDetail = withExample(
  'CapturedRequest',
  z.object({
    ...summary,
    ...content,
    query: byName(z.array(z.string())),
    headers: byName(z.string()),
    bodyKind: z
      .enum(BODY_KINDS)
      .nullable()
      .describe(
        'Type of the body for conditions and rules, independent of `contentType`; null when empty or left out',
      ),
    decodedBody: DecodedBody.describe(
      'A body that arrived encoded, as labels, conditions and rules read it. Null for others',
    ),
    bodyOmitted: z
      .boolean()
      .describe('The body is longer than `bodyBytesMax`: `body` is null, `…/body` has it'),
    originalUntil: Timestamp.nullable().describe(
      'With `forwardOriginal` of the endpoint: until then, at the latest, deliveries and replays send the original. Null: they send what is stored, or the original is gone',
    ),
    deliveries: z.array(
      z.object({
        actionId: z.uuid().nullable(),
        actionName: z.string(),
        kind: z.string(),
        state: z.string(),
        attemptCount: z.int(),
        lastAttemptAt: Timestamp.nullable(),
        nextAttemptAt: Timestamp.nullable(),
      }),
    ),
  }),
)

export const BodyDownload = Download.extend({
  from: z.int().describe('The first octet of `content`, from 0'),
  total: z.int().describe('Octets of the whole body'),
})

/** Shape of an endpoint's newest requests. */
export const Shape = z
  .object({
    sampleCount: z.int().describe('Number of requests read'),
    paths: z.array(
      z.object({
        path: z.string(),
        types: z.array(z.enum(VALUE_TYPES)),
        share: z.number().describe('Share of requests with this path, 0 to 1'),
        example: z.string().describe('The newest value, shortened'),
      }),
    ),
  })
  .meta({ id: 'Shape' })

/** Ids of one bulk call: 1 to 500, without duplicates. */
const RequestIds = z
  .array(Int64Filter)
  .min(1)
  .max(500)
  .transform((ids) => [...new Set(ids)])

/** Members for the ids of a bulk call: one list under either of two names. */
export const requestIdsInput = {
  requestIds: optional(RequestIds).describe('1 to 500 ids of captured requests'),
  ids: optional(RequestIds).describe('Another name for `requestIds`: give one of the two'),
}

/** The id lists of a bulk call. A member that its schema refused is absent. */
export interface RequestIdLists {
  readonly requestIds?: readonly number[] | undefined
  readonly ids?: readonly number[] | undefined
}

/** Checks that exactly one of the two lists is given. Returns issues, or none if the schema has refused a list. */
export function issuesOfRequestIds(lists: RequestIdLists): InputIssue[] {
  if (!('requestIds' in lists && 'ids' in lists)) return []
  const { requestIds, ids } = lists
  if (requestIds === undefined && ids === undefined)
    return [issue(['requestIds'], 'required', 'requestIds is required.')]
  if (requestIds === undefined || ids === undefined) return []
  return [issue(['ids'], 'not_allowed', 'Give either requestIds or ids, not both.')]
}

/** The ids of an input that {@link issuesOfRequestIds} accepted. */
export function requestIdsOf({ requestIds, ids }: RequestIdLists): readonly number[] {
  return requestIds ?? ids ?? []
}
