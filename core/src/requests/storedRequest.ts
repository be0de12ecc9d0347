import { type Selectable, sql } from 'kysely'
import { type EvaluatedRequest, storedHeaders } from '../engine/message/index.ts'
import { verdictOf } from '../engine/words/index.ts'
import type { Db, RequestsTable, Trx } from '../platform/db/index.ts'
import { type DataKeyRef, isShredded, keyOfRow, sealedMembers } from '../platform/secrets/index.ts'

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

/** The key that seals a stored request, and of one that is gone the key of its endpoint; null if it is stored in plain. */
export async function keyOfRequest(
  db: Db | Trx,
  endpointId: string,
  requestId: number,
): Promise<DataKeyRef | 'shredded' | null> {
  const row = await db
    .selectFrom('requests')
    .where('endpointId', '=', endpointId)
    .where('id', '=', requestId)
    .select(sealedMembers('requests'))
    .executeTakeFirst()
  if (row !== undefined) return isShredded(row) ? 'shredded' : keyOfRow(row)
  const { rows } = await sql<{ id: string; sealedKey: Buffer }>`
    select id, creel_keys.data_key(id) as sealed_key from creel_keys.endpoint_keys
    where endpoint_id = ${endpointId}`.execute(db)
  return rows[0] ?? null
}
