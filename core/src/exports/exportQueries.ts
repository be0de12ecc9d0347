import { sql } from 'kysely'
import { type Db, run, statement } from '../platform/db/index.ts'
import { bodyBytesOf, isShredded, partColumns, sealedColumns, sealedPart } from '../platform/secrets/index.ts'
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

/** Whether an endpoint is in this cell, and not deleted. */
export async function isPresent(db: Db, endpointId: string): Promise<boolean> {
  const endpoint = db.selectFrom('endpoints').select('id').where('id', '=', endpointId)
  return (await endpoint.where('deletedAt', 'is', null).executeTakeFirst()) !== undefined
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

/** SQL of base64 without the line breaks that PostgreSQL inserts. */
const base64 = (bytes: string) => `translate(encode(${bytes}, 'base64'), E'\\n', '')`

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
        when r.body_is_binary or r.body_truncated then ${sql.raw(base64('r.body'))}
        else convert_from(r.body, 'UTF8') end`.as('body'),
    ])
    .where('r.id', 'in', ids)
    .orderBy('r.id')
    .execute()
  return rows.map(({ sealedBody, ...row }) => {
    // Without its content, it is never to be sent as a whole request.
    const shown = isShredded(row) ? { ...row, bodyTruncated: true } : row
    if (sealedBody === null) return shown
    // The text that PostgreSQL makes of a body that is not sealed.
    return { ...shown, body: sealedBody.toString(isTextBody(shown) ? 'utf8' : 'base64') }
  })
}

/** `$4` octets of a body from position `$3`, counted from 0: in base64, or sealed. */
const SLICE = statement(
  'slice of body',
  `select case when r.sealed_with is null
      then ${base64('substring(r.body from $3::int + 1 for $4::int)')} end as slice,
    case when r.sealed_with is not null then ${sealedPart('r', '$3::int', '$4::int')} end as sealed_body,
    ${partColumns('r', '$3::int', '$4::int')}, ${sealedColumns('r')}
  from requests r where r.endpoint_id = $1::uuid and r.id = $2::bigint`,
)

/**
 * A slice of a body, in base64; also of a request that was deleted since its export began.
 *
 * @param from offset, from 0
 * @returns undefined without the request, null if it is shredded
 */
export async function sliceOfBody(
  db: Db,
  { endpointId, id, from, bytes }: { endpointId: string; id: number; from: number; bytes: number },
): Promise<string | null | undefined> {
  const [row] = await run(db, SLICE, [endpointId, id, from, bytes])
  if (row === undefined) return undefined
  return isShredded(row) ? null : (row.slice ?? row.sealedBody?.toString('base64'))
}
