import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'
import { bodyBytesOf, sealedMembers } from '../platform/secrets/index.ts'
import {
  applyFilters,
  type RequestFilters,
  type RequestRow,
  requestsWithHeaders,
  visibleRequests,
} from '../requests/index.ts'

/** The largest stored id, at which an export ends. */
export async function newestId(db: Db, endpointId: string): Promise<number | undefined> {
  const row = await visibleRequests(db, endpointId)
    .select('r.id')
    .orderBy('r.id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** The id of the last of `rows` stored requests after `afterId`; `untilId` if there are fewer. */
export async function endOfStep(
  db: Db,
  endpointId: string,
  { afterId, untilId, rows }: { readonly afterId: number; readonly untilId: number; readonly rows: number },
): Promise<number> {
  const row = await visibleRequests(db, endpointId)
    .where('r.id', '>', afterId)
    .where('r.id', '<=', untilId)
    .select('r.id')
    .orderBy('r.id')
    .limit(1)
    .offset(rows - 1)
    .executeTakeFirst()
  return row?.id ?? untilId
}

const bodyBytes = sql.raw<number>(bodyBytesOf('r')).as('bodyBytes')

/** The ids that match, up to `untilId`, oldest first, with the sizes of their bodies. */
export function matchingSizes(
  db: Db,
  endpointId: string,
  filters: RequestFilters,
  untilId: number,
): Promise<{ id: number; bodyBytes: number }[]> {
  return applyFilters(visibleRequests(db, endpointId), filters)
    .where('r.id', '<=', untilId)
    .select(['r.id', bodyBytes])
    .orderBy('r.id')
    .execute()
}

/** Base64 without the line breaks that PostgreSQL inserts. */
const base64 = (bytes: RawBuilder<Buffer>) => sql<string>`translate(encode(${bytes}, 'base64'), E'\n', '')`

export interface ExportRow extends Omit<RequestRow, 'body'> {
  readonly bodyBytes: number
  /** Text if {@link isTextBody}, else base64; null if it is longer than the requested maximum. */
  readonly body: string | null
}

/** Whether the body of a row is exported as text: it is complete, in UTF-8, and has no NUL. */
export const isTextBody = (row: Pick<RequestRow, 'bodyIsBinary' | 'bodyTruncated'>): boolean =>
  !row.bodyIsBinary && !row.bodyTruncated

/**
 * These requests, oldest first; those that were deleted meanwhile are left out. PostgreSQL converts the bytes to text
 * or base64, which takes fewer bytes on the wire than its bytea format, and fewer copies here.
 */
export async function findForExport(
  db: Db,
  endpointId: string,
  ids: readonly number[],
  { bodyBytesMax }: { readonly bodyBytesMax: number },
): Promise<ExportRow[]> {
  const rows = await requestsWithHeaders(db, endpointId)
    .select([
      bodyBytes,
      sql<Buffer | null>`case when r.sealed_with is not null and octet_length(r.body) <= ${bodyBytesMax} then r.body end`.as(
        'sealedBody',
      ),
      sql<string | null>`case
        when octet_length(r.body) > ${bodyBytesMax} or r.sealed_with is not null then null
        when r.body_is_binary or r.body_truncated then ${base64(sql`r.body`)}
        else convert_from(r.body, 'UTF8') end`.as('body'),
    ])
    .where('r.id', 'in', ids)
    .orderBy('r.id')
    .execute()
  return rows.map(({ sealedBody, ...row }) =>
    sealedBody === null ? row : { ...row, body: textOf(row, sealedBody) },
  )
}

/** The text that PostgreSQL makes of a body that is not sealed. */
function textOf(row: Pick<RequestRow, 'bodyIsBinary' | 'bodyTruncated'>, body: Buffer): string {
  return body.toString(isTextBody(row) ? 'utf8' : 'base64')
}

/**
 * A slice of a body, in base64; also of a request that was deleted since its export began.
 *
 * @param from offset, from 0
 */
export async function sliceOfBody(
  db: Db,
  { endpointId, id, from, bytes }: { endpointId: string; id: number; from: number; bytes: number },
): Promise<string | undefined> {
  const slice = sql<Buffer>`case when r.sealed_with is null then substring(r.body from ${from + 1}::int for ${bytes}::int) end`
  const row = await db
    .selectFrom('requests as r')
    .where('r.endpointId', '=', endpointId)
    .where('r.id', '=', id)
    .select([
      base64(slice).as('slice'),
      sql<Buffer | null>`case when r.sealed_with is not null then r.body end`.as('sealedBody'),
      ...sealedMembers('r'),
    ])
    .executeTakeFirst()
  const opened = row?.sealedBody ?? null
  return opened === null ? row?.slice : opened.toString('base64', from, from + bytes)
}
