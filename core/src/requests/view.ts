import { isUtf8 } from 'node:buffer'
import type { z } from 'zod'
import type { Urls } from '../api/services.ts'
import { requestUrlOf } from '../endpoints/index.ts'
import {
  asRead,
  decodedBody,
  joinedHeaders,
  kindOfBody,
  PARSED_BODY_BYTES_MAX,
  storedHeaders,
  textOf,
  urlEncodedPairs,
  valuesByName,
  type WireHeader,
} from '../engine/message/index.ts'
import type { Redaction } from '../engine/storing/index.ts'
import { VERDICTS } from '../engine/words/index.ts'
import { type Db, type RowsOf, run, statement } from '../platform/db/index.ts'
import { isShredded } from '../platform/secrets/index.ts'
import type { RequestRow, RequestSummaryRow } from './queries.ts'
import type { DecodedBody, RequestDetail, RequestSummary } from './schema.ts'
import { isLive, outcomeOf, sendsRequest } from './state.ts'

/** Converts a row to a summary of the API, as lists show it. */
export function summaryView(row: RequestSummaryRow, endpointId: string): z.input<typeof RequestSummary> {
  const verdict = VERDICTS.find((known) => known === row.verdict)
  return {
    id: row.id,
    endpointId,
    receivedAt: row.receivedAt,
    method: row.method,
    path: row.path,
    contentType: row.contentType,
    sizeBytes: row.sizeBytes,
    ip: row.ip,
    userAgent: row.userAgent,
    label: row.label,
    eventId: row.eventId,
    senderAttempt: row.senderAttempt,
    firstRequestId: row.firstRequestId,
    bodyTruncated: row.bodyTruncated,
    bodyIsBinary: row.bodyIsBinary,
    bodyPreview: row.bodyPreview,
    verification: verdict === undefined ? null : { verdict, note: row.verdictNote ?? '' },
    ...outcomeOf(row),
    imported: row.imported,
    reconciled: row.reconciled,
    duplicateOf: row.duplicateOf,
    ...redactionView(row.redaction),
    sealed: row.sealedWith !== null,
    shredded: isShredded(row),
    columns: row.columnValues === null ? {} : JSON.parse(row.columnValues),
    note: row.note?.toString() ?? null,
    answeredBy: row.answeredBy === null ? null : JSON.parse(row.answeredBy),
  }
}

/** Names what was taken out of a request before it was stored. */
export function redactionView(stored: string | null) {
  if (stored === null) return NOT_REDACTED
  const { paths, fault }: Redaction = JSON.parse(stored)
  return { redacted: true, redactedPaths: [...paths], redactionFault: fault }
}

const NOT_REDACTED = { redacted: false, redactedPaths: [], redactionFault: null }

/** The endpoint of a request, with its id in the capture URL. */
export interface CapturedFor {
  readonly id: string
  readonly captureId: string
}

/** Converts a row to a whole request of the API. `headers` joins repeated fields, `rawHeaders` keeps them apart. */
export function detailView(
  row: RequestRow,
  {
    endpoint,
    urls,
    deliveries,
    originalUntil = null,
  }: {
    endpoint: CapturedFor
    urls: Urls
    deliveries: readonly DeliveryOfRequestRow[]
    originalUntil?: Date | null
  },
): z.input<typeof RequestDetail> {
  const headers = storedHeaders(row)
  const bodyOmitted = typeof row.omittedBytes === 'number'
  return {
    ...summaryView(row, endpoint.id),
    url: requestUrlOf(urls, endpoint.captureId, row),
    queryString: row.queryString,
    query: valuesByName(urlEncodedPairs(row.queryString ?? '')),
    headers: joinedHeaders(headers),
    rawHeaders: headers.map(rawHeader),
    body: bodyText(row),
    bodyOmitted,
    bodyKind: bodyOmitted ? null : kindOfBody(asRead({ ...row, headers })),
    decodedBody: bodyOmitted ? null : decodedView({ ...row, headers }),
    deliveries: [...deliveries],
    originalUntil,
  }
}

/** The API's view of the body of a message as it is read, if it is encoded. */
export function decodedView(request: Parameters<typeof decodedBody>[0]): z.input<typeof DecodedBody> {
  const decoded = decodedBody(request)
  if (decoded === undefined) return null
  const { encoding, body, fault } = decoded
  const isShown = body !== null && body.length <= PARSED_BODY_BYTES_MAX
  return { encoding, fault, sizeBytes: body?.length ?? null, text: isShown ? (textOf(body) ?? null) : null }
}

/** Marks a value that is not UTF-8, so that a client that forwards the request can send the same bytes. */
function rawHeader([name, value]: WireHeader) {
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? { name, value: bytes.toString() } : { name, value, encoding: 'latin1' as const }
}

function bodyText(row: RequestRow): string | null {
  if (row.body.length === 0) return null
  return row.body.toString(row.bodyIsBinary ? 'base64' : 'utf8')
}

/** Reads the deliveries of the endpoint `$1` and the request `$2`. */
const DELIVERIES_OF_REQUEST = statement(
  'deliveries of request',
  `with tried as (
    select action_id, (array_agg(action_name order by id desc))[1] as action_name, min(kind) as kind,
           (array_agg(state order by id desc) filter (where ${sendsRequest('t')}))[1] as state,
           (array_agg(state order by id desc))[1] as latest, count(*)::int as attempt_count,
           max(at) as last_attempt_at, min(at) as since
    from delivery_attempts t where endpoint_id = $1 and request_id = $2 and ${isLive('t')}
    group by action_id
  ), queued as (
    select action_id, max(action_name) as action_name, min(kind) as kind,
           min(next_attempt_at) as next_attempt_at, min(created_at) as since
    from deliveries
    where endpoint_id = $1 and request_id = $2 and finished_at is null
    group by action_id
  )
  select a.id as action_id, coalesce(a.name, t.action_name, q.action_name) as action_name,
         coalesce(t.kind, q.kind) as kind, coalesce(t.state, case when q.kind is null then t.latest end, 'Pending') as state,
         coalesce(t.attempt_count, 0) as attempt_count, t.last_attempt_at, q.next_attempt_at
  from tried t
  full join queued q using (action_id)
  left join actions a on a.id = action_id
  order by a.position, least(t.since, q.since), action_id`,
  // Each row is of an attempt or a queued delivery.
  { notNull: ['actionName', 'kind'] },
)

/** State of a request's delivery through one action, its replays included. */
type DeliveryOfRequestRow = RowsOf<typeof DELIVERIES_OF_REQUEST>

/**
 * Reads one row for each action, in their order. Attempts of a deleted action stay, with `actionId` null, behind the
 * others; its queued deliveries are gone.
 */
export async function deliveriesOfRequest(
  db: Db,
  endpointId: string,
  requestId: number,
): Promise<readonly DeliveryOfRequestRow[]> {
  return await run(db, DELIVERIES_OF_REQUEST, [endpointId, requestId])
}
