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
