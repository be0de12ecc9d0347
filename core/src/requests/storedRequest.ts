import type { Selectable } from 'kysely'
import { type EvaluatedRequest, storedHeaders } from '../engine/message/index.ts'
import { verdictOf } from '../engine/words/index.ts'
import { type Db, type RequestsTable, run, statement } from '../platform/db/index.ts'
import { type DataKeyRef, isShredded, keyOfRow } from '../platform/secrets/index.ts'

/** Columns from which {@link storedRequest} restores a captured request. */
export const STORED_REQUEST_COLUMNS = [
  'endpointId',
  'receivedAt',
  'method',
  'path',
  'queryString',
  'headerNames',
  'headerValues',
  'contentType',
  'body',
  'sizeBytes',
  'bodyTruncated',
  'ip',
  'label',
  'eventId',
  'verdict',
  'verdictNote',
] as const satisfies readonly (keyof RequestsTable)[]

/** A row with the columns of {@link STORED_REQUEST_COLUMNS}. */
export type StoredRequestRow = Pick<Selectable<RequestsTable>, (typeof STORED_REQUEST_COLUMNS)[number]>

/** Restores a captured request for conditions, rules and forwards, with the same values as when it arrived. */
export function storedRequest(row: StoredRequestRow): EvaluatedRequest {
  return {
    endpointId: row.endpointId,
    receivedAt: row.receivedAt,
    method: row.method,
    path: row.path,
    queryString: row.queryString,
    headers: storedHeaders(row),
    contentType: row.contentType,
    body: row.body,
    sizeBytes: row.sizeBytes,
    bodyTruncated: row.bodyTruncated,
    ip: row.ip,
    label: row.label,
    eventId: row.eventId,
    verification:
      row.verdict === null ? null : { verdict: verdictOf(row.verdict), note: row.verdictNote ?? '' },
  }
}

const KEYS = statement(
  'keys of requests',
  `select coalesce(r.sealed_with, k.id) as sealed_with, creel_keys.data_key(coalesce(r.sealed_with, k.id)) as sealed_key
  from unnest($1::uuid[], $2::bigint[]) with ordinality as g (endpoint_id, request_id, place)
  left join requests r on r.endpoint_id = g.endpoint_id and r.id = g.request_id
  left join creel_keys.endpoint_keys k on r.id is null and k.endpoint_id = g.endpoint_id
  order by g.place`,
)

/**
 * The keys that seal stored requests, in their order, and of those that are gone the keys of their endpoints; null for
 * those in plain.
 */
export async function keysOfRequests(
  db: Db,
  requests: readonly { readonly endpointId: string; readonly requestId: number }[],
): Promise<readonly (DataKeyRef | 'shredded' | null)[]> {
  const rows = await run(db, KEYS, [
    requests.map(({ endpointId }) => endpointId),
    requests.map(({ requestId }) => requestId),
  ])
  return rows.map((row) => (isShredded(row) ? 'shredded' : keyOfRow(row)))
}

const PREVIEW_CHARACTERS = 200
/** The most bytes of the characters of a preview, in UTF-8. */
const PREVIEW_BYTES = PREVIEW_CHARACTERS * 4

/**
 * SQL of the first 200 characters of a row's text body, of an encoded one as it is read; null for others. Only rows of
 * early versions, and sealed ones, have it stored.
 */
export const bodyPreviewOf = (row: string): string => `coalesce(${row}.body_preview, nullif(
  substring(case
    when ${row}.decoded_text is not null then substring(${row}.decoded_text from 1 for ${PREVIEW_CHARACTERS})
    when ${row}.body_is_binary then ''
    else body_text_prefix(substring(${row}.body from 1 for ${PREVIEW_BYTES}), ${PREVIEW_BYTES})
  end from 1 for ${PREVIEW_CHARACTERS}), ''))`

interface Previewed {
  readonly body: Uint8Array
  readonly bodyIsBinary: boolean
  readonly decodedText: string | null
}

/** The same of a row that is about to be sealed. */
export function bodyPreview({ body, bodyIsBinary, decodedText }: Previewed): string | null {
  const beginning = body.subarray(0, PREVIEW_BYTES)
  // A character that the end cuts is left out.
  const decode = () => new TextDecoder('utf-8', { ignoreBOM: true }).decode(beginning, { stream: true })
  const text = decodedText ?? (bodyIsBinary ? '' : decode())
  return [...text.slice(0, PREVIEW_BYTES)].slice(0, PREVIEW_CHARACTERS).join('') || null
}
