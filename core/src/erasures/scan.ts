import { sql } from 'kysely'
import type { Services } from '../api/services.ts'
import { headersFromText } from '../deliveries/index.ts'
import type { EvaluatedRequest } from '../engine/message/index.ts'
import type { Db } from '../platform/db/index.ts'
import { sealedMembers } from '../platform/secrets/index.ts'
import { findOriginals, redactionView, STORED_REQUEST_COLUMNS, storedRequest } from '../requests/index.ts'
import { anyOf, type Search, type ValueFinder } from './match.ts'

/** Rows, and bytes of bodies, that one read holds in memory. One row is read whatever its size. */
const ROWS_MAX = 200
const BYTES_MAX = 8 * 1024 * 1024

export interface Range {
  readonly endpointId: string
  readonly afterId: number
  readonly upToId: number
}

interface ScannedRequest {
  readonly id: number
  readonly isBinned: boolean
  readonly note: string | null
  readonly request: EvaluatedRequest
  /**
   * Texts about the request: names of what was taken out of it, and if it was imported, whatever its
   * file said of its verification and of a fault. Our own sentences have nothing of the request.
   */
  readonly remarks: readonly string[]
  /** As it came, if that is kept for its deliveries. */
  readonly original: EvaluatedRequest | undefined
}

/** Rows of a range that were read together. */
interface Read<Row> {
  readonly rows: readonly Row[]
  /** The last id that was looked at, also of a row that was deleted meanwhile; null: the range is done. */
  readonly lastId: number | null
}

/** The next captures of a range in every state: stored, in the recycle bin, and hidden. */
export async function nextRequests(
  services: Pick<Services, 'db' | 'secrets' | 'clock' | 'log'>,
  range: Range,
): Promise<Read<ScannedRequest>> {
  const { db } = services
  const sizes = await db
    .selectFrom('requests')
    .where('endpointId', '=', range.endpointId)
    .where('id', '>', range.afterId)
    .where('id', '<=', range.upToId)
    .select([
      'id',
      sql<number>`octet_length(body) + octet_length(header_values) + coalesce(octet_length(sealed), 0) + coalesce((
        select octet_length(o.original) from request_originals o
        where o.endpoint_id = requests.endpoint_id and o.request_id = requests.id), 0)`.as('bytes'),
    ])
    .orderBy('id')
    .limit(ROWS_MAX)
    .execute()
  const ids = fitting(sizes)
  const lastId = ids.at(-1) ?? null
  if (lastId === null) return { rows: [], lastId }
  const rows = await db
    .selectFrom('requests')
    .where('endpointId', '=', range.endpointId)
    .where('id', 'in', ids)
    .select(['id', 'deletedAt', 'note', 'imported', 'redaction', ...STORED_REQUEST_COLUMNS])
    .select(sealedMembers('requests'))
    .orderBy('id')
    .execute()
  const of = ids.map((requestId) => ({ endpointId: range.endpointId, requestId }))
  const originals = await findOriginals(services, db, of)
  const scanned = rows.map((row) => ({
    id: row.id,
    isBinned: row.deletedAt !== null,
    note: row.note?.toString() ?? null,
    request: storedRequest(row),
    remarks: remarksOn(row),
    original: originals.get(row.id),
  }))
  return { rows: scanned, lastId }
}

function remarksOn(of: {
  readonly imported: boolean
  readonly redaction: string | null
  readonly verdictNote: string | null
}): readonly string[] {
  const { redactedPaths, redactionFault } = redactionView(of.redaction)
  const sentences = of.imported ? [of.verdictNote, redactionFault] : []
  return [...redactedPaths, ...sentences.filter((each) => each !== null)]
}

/** An attempt with everything that it recorded. */
type ScannedAttempt = Awaited<ReturnType<typeof attemptsWithIds>>[number]

const detailsBytes = sql<number>`coalesce(octet_length(d.sent_body), 0) + coalesce(octet_length(d.received_body), 0) + coalesce(octet_length(d.sealed), 0)`

/** The attempts of an endpoint as `a`, with their records as `d`. */
const attemptsOf = (db: Db, endpointId: string) =>
  db
    .selectFrom('deliveryAttempts as a')
    .leftJoin('attemptDetails as d', (on) =>
      on.onRef('d.endpointId', '=', 'a.endpointId').onRef('d.attemptId', '=', 'a.id'),
    )
    .where('a.endpointId', '=', endpointId)

/** The next attempts of a range, in the order of their ids. */
export async function nextAttempts(db: Db, range: Range): Promise<Read<ScannedAttempt>> {
  const sizes = await attemptsOf(db, range.endpointId)
    .where('a.id', '>', range.afterId)
    .where('a.id', '<=', range.upToId)
    .select(['a.id', detailsBytes.as('bytes')])
    .orderBy('a.id')
    .limit(ROWS_MAX)
    .execute()
  const ids = fitting(sizes)
  const lastId = ids.at(-1) ?? null
  return { rows: await attemptsWithIds(db, range.endpointId, ids), lastId }
}

/**
 * The next attempts of captures, in the order of their captures: all of them, or those that fit.
 *
 * @param from `attemptAfterId`: attempts of the capture after `afterId` that were read before, up to this id
 * @returns `cutAt`: the capture of the first attempt that does not fit; null: all are read
 */
export async function nextAttemptsOf(
  db: Db,
  from: Range & { readonly attemptAfterId: number },
  requestIds: readonly number[],
): Promise<{ readonly rows: readonly ScannedAttempt[]; readonly cutAt: number | null }> {
  if (requestIds.length === 0) return { rows: [], cutAt: null }
  const sizes = await attemptsOf(db, from.endpointId)
    .where('a.requestId', 'in', requestIds)
    .where((where) =>
      where.or([where('a.requestId', '>', from.afterId + 1), where('a.id', '>', from.attemptAfterId)]),
    )
    .select(['a.id', 'a.requestId', detailsBytes.as('bytes')])
    .orderBy('a.requestId')
    .orderBy('a.id')
    .limit(ROWS_MAX + 1)
    .execute()
  const ids = fitting(sizes.slice(0, ROWS_MAX))
  const rows = await attemptsWithIds(db, from.endpointId, ids)
  return { rows, cutAt: sizes[ids.length]?.requestId ?? null }
}

export async function lastAttemptId(db: Db, endpointId: string): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select coalesce(max(id), 0)::bigint as id from delivery_attempts
    where endpoint_id = ${endpointId}`.execute(db)
  return rows[0]?.id ?? 0
}

/** Whether an attempt of a range is under way. */
export async function isAnyPending(db: Db, { endpointId, afterId, upToId }: Range): Promise<boolean> {
  const row = await db
    .selectFrom('deliveryAttempts')
    .where('endpointId', '=', endpointId)
    .where('id', '>', afterId)
    .where('id', '<=', upToId)
    .where('state', '=', 'Pending')
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Attempts in the order of their ids in the list: a search that ends early goes on after the last that it searched. */
async function attemptsWithIds(db: Db, endpointId: string, ids: readonly number[]) {
  if (ids.length === 0) return []
  const rows = await attemptsOf(db, endpointId)
    .where('a.id', 'in', ids)
    .select(['a.id', 'a.requestId', 'a.state', 'a.url', 'a.error', 'a.transformNote'])
    .select(['d.sentUrl', 'd.sentHeaders', 'd.sentBody', 'd.sentBodyTruncated'])
    .select(['d.receivedHeaders', 'd.receivedBody', 'd.receivedBodyTruncated'])
    .select(sealedMembers('d'))
    .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

export function attemptHolds(finder: ValueFinder, attempt: ScannedAttempt): Search {
  const { url, error, transformNote, sentUrl } = attempt
  const messages = [
    messageOf(attempt.sentHeaders, attempt.sentBody, attempt.sentBodyTruncated),
    messageOf(attempt.receivedHeaders, attempt.receivedBody, attempt.receivedBodyTruncated),
  ]
  return anyOf([
    ...[url, error, transformNote, sentUrl].map(finder.inText),
    ...messages.map(finder.inMessage),
  ])
}

/** A message as it is stored, which may be in part, or not at all. */
export const messageOf = (headers: string | null, body: Uint8Array | null, isCut: boolean | null) => ({
  headers: headersFromText(headers ?? '[]'),
  body: body ?? new Uint8Array(),
  bodyTruncated: isCut ?? false,
})

function fitting(sizes: readonly { readonly id: number; readonly bytes: number }[]): number[] {
  const ids: number[] = []
  let bytes = 0
  for (const one of sizes) {
    if (ids.length > 0 && bytes + one.bytes > BYTES_MAX) break
    bytes += one.bytes
    ids.push(one.id)
  }
  return ids
}

/** The last id that a request has drawn. */
export async function lastRequestId(db: Db): Promise<number> {
  const { rows } = await sql<{ id: number }>`select last_value::bigint as id from request_ids`.execute(db)
  return rows[0]?.id ?? 0
}
