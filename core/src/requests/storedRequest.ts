import type { Selectable } from 'kysely'
import { type EvaluatedRequest, storedHeaders } from '../engine/message/index.ts'
import { verdictOf } from '../engine/words/index.ts'
import type { RequestsTable } from '../platform/db/index.ts'

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
