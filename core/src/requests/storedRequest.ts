import type { Selectable } from 'kysely'
import type { EvaluatedRequest } from '../engine/message/index.ts'
import { storedHeaders } from '../engine/message/index.ts'
import { verdictOf } from '../engine/words/index.ts'
import type { RequestsTable } from '../platform/db/index.ts'

/** The columns of which a captured request is made again. */
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

/** The columns from which a captured request is made again. */
export type StoredRequestRow = Pick<Selectable<RequestsTable>, (typeof STORED_REQUEST_COLUMNS)[number]>

/** A stored request as conditions, rules and forwards see it: the same values as when it arrived. */
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
