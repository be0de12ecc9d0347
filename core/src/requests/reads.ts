import type { Context } from '../api/context.ts'
import { type Page, window } from '../api/pagination.ts'
import { type Db, run, statement } from '../platform/db/index.ts'
import { sealedColumns } from '../platform/secrets/index.ts'
import { completed, LONG_BODY_BYTES, readOctets, shortBody } from './longReads.ts'
import type { RequestRow, RequestSummaryRow } from './queries.ts'
import type { IdRange } from './rangeTotals.ts'
import type { Order } from './schema.ts'
import { FIRST_REQUEST_ID, OUTCOMES, SENDER_ATTEMPT } from './state.ts'
import { bodyPreviewOf } from './storedRequest.ts'

const IS_VISIBLE = 'r.deleted_at is null and r.hidden_at is null'

const SUMMARY = `
  r.id, r.endpoint_id, r.received_at, r.method, r.path, r.content_type, r.size_bytes, r.ip, r.user_agent, r.label,
  r.event_id, r.body_truncated, r.body_is_binary, ${bodyPreviewOf('r')} as body_preview, r.verdict, r.verdict_note, r.imported, r.reconciled,
  r.duplicate_of, r.redaction, r.answered_by, r.column_values, r.note, ${sealedColumns('r')},
  ${OUTCOMES} as outcomes,
  ${SENDER_ATTEMPT} as sender_attempt, ${FIRST_REQUEST_ID} as first_request_id`

const detailWith = (body: string) => `
  select ${SUMMARY}, r.query_string, r.header_names, r.header_values, ${body}
  from requests r
  where r.endpoint_id = $1::uuid and r.id = $2::bigint and ${IS_VISIBLE}`

const FIND_REQUEST = statement('find request', detailWith(shortBody('$3')))

/** The same with a check that the endpoint is one of the workspace `$3`: no row means that it is not. */
const READ_REQUEST = statement(
  'read request',
  `select coalesce(e.capture_id, e.id) as capture_id, r.*
   from endpoints e left join lateral (${detailWith(shortBody('$4'))}) r on true
   where e.id = $1::uuid and e.workspace_id = $3::uuid and e.deleted_at is null`,
)

/** The endpoint of the request `$2` among those of the workspace `$1`, or the endpoint `$3` alone. */
const ENDPOINT_OF_REQUEST = statement(
  'endpoint of request',
  `select r.endpoint_id
   from requests r
   where r.id = $2::bigint and ${IS_VISIBLE} and r.endpoint_id = any(array(
     select e.id from endpoints e
     where e.workspace_id = $1::uuid and e.deleted_at is null and ($3::uuid is null or e.id = $3::uuid)))`,
)

const listRequests = (order: Order) => `
   select c.stored_request_count as total_count, r.*
   from endpoints e
   join endpoint_counters c on c.endpoint_id = e.id
   left join lateral (
     select ${SUMMARY}
     from requests r
     where r.endpoint_id = e.id and ${IS_VISIBLE} and r.id < $5::bigint
       and r.id > greatest($6::bigint, c.oldest_request_id - 1)
     order by r.id ${order}
     limit greatest(0, least($3::bigint, c.stored_request_count - $4::bigint)) offset $4::bigint
   ) r on true
   where e.id = $1::uuid and e.workspace_id = $2::uuid and e.deleted_at is null
   order by r.id ${order}`

/**
 * A page without filters but bounds of ids: of the endpoint `$1` of the workspace `$2`, `$3` rows after the first `$4` with
 * ids below `$5` and above `$6`.
 *
 * The total is the counter's. The scan ends at the last stored row, before deleted ones.
 */
const LIST_REQUESTS = {
  asc: statement('list requests, oldest first', listRequests('asc')),
  desc: statement('list requests', listRequests('desc')),
}

export interface ReadRequest extends RequestRow {
  readonly captureId: string
}

/** Finds the endpoint that captured a request. Undefined if there is none, or the caller may not see it. */
export async function endpointOfRequest(
  db: Db,
  workspaceId: string,
  { id, onlyEndpointId }: { readonly id: number; readonly onlyEndpointId: string | null },
): Promise<string | undefined> {
  const [row] = await run(db, ENDPOINT_OF_REQUEST, [workspaceId, id, onlyEndpointId])
  return row?.endpointId
}

/**
 * Reads a whole request. Undefined if it is absent, deleted or of another endpoint. A caller that hangs up no longer
 * waits for a long body.
 *
 * @throws LineTooLong when too many long bodies wait to be read
 */
export async function findRequest(
  { db, workspace, signal }: Pick<Context, 'db' | 'workspace' | 'signal'>,
  endpointId: string,
  id: number,
): Promise<RequestRow | undefined> {
  const [row] = await run(db, FIND_REQUEST, [endpointId, id, LONG_BODY_BYTES])
  return row === undefined ? row : await withBody({ db, workspaceId: workspace.id, signal }, row)
}

/** The row with its long body; undefined if it was purged meanwhile. */
async function withBody<Row extends RequestRow>(
  reading: Parameters<typeof readOctets>[0],
  row: Row,
): Promise<Row | undefined> {
  const { endpointId, id: requestId, omittedBytes: length = null } = row
  if (length === null) return row
  return completed(row, await readOctets(reading, { endpointId, requestId, from: 0, length }))
}

/**
 * Finds endpoint and request in one statement; a body of more octets than `bodyBytesMax` is left out.
 *
 * @param options `onLong` is called with the length of a long body before it is read, and may throw to prevent that;
 *   `signal` ends the wait for a long body when the caller hangs up
 * @throws LineTooLong when too many long bodies wait to be read
 * @returns null without the request; undefined without the endpoint
 */
export async function readRequest(
  db: Db,
  workspaceId: string,
  endpointId: string,
  {
    id,
    bodyBytesMax,
    onLong,
    signal,
  }: {
    readonly id: number
    readonly bodyBytesMax: number
    readonly onLong?: (bytes: number) => void
    readonly signal?: AbortSignal
  },
): Promise<ReadRequest | null | undefined> {
  const shortBytes = Math.min(bodyBytesMax, LONG_BODY_BYTES)
  const [row] = await run(db, READ_REQUEST, [endpointId, id, workspaceId, shortBytes])
  if (row === undefined) return undefined
  if (row.id === null) return null
  if (row.omittedBytes === null || row.omittedBytes > bodyBytesMax) return row
  onLong?.(row.omittedBytes)
  return (await withBody({ db, workspaceId, signal }, row)) ?? null
}

/**
 * Finds the endpoint and one page of its requests in one statement. The total is that of all its requests.
 *
 * @returns undefined without the endpoint
 */
export async function readPage(
  db: Db,
  workspaceId: string,
  endpointId: string,
  page: Page & IdRange & { readonly order: Order },
): Promise<{ rows: RequestSummaryRow[]; totalCount: number } | undefined> {
  const { limit, offset } = window(page)
  const found = await run(db, LIST_REQUESTS[page.order], [
    endpointId,
    workspaceId,
    limit,
    offset,
    page.below ?? Number.MAX_SAFE_INTEGER,
    page.above ?? -1,
  ])
  const [first] = found
  if (first === undefined) return undefined
  return { rows: found.filter((row) => row.id !== null), totalCount: first.totalCount }
}
