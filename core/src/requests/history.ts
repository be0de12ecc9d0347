import { setImmediate } from 'node:timers/promises'
import { type AbortableQueryOptions, type SqlBool, sql } from 'kysely'
import {
  type Condition,
  holdsInSteps,
  type Path,
  pathsOf,
  requestRoot,
  unmatchedPaths,
} from '../engine/conditions/index.ts'
import { PARSED_BODY_BYTES_MAX } from '../engine/message/index.ts'
import type { Db } from '../platform/db/index.ts'
import { countPiece } from '../platform/memory/index.ts'
import { inSlices } from '../platform/turns/index.ts'
import { columnsRead, narrowing } from './narrowing.ts'
import { type StoredRequestRow, storedRequest } from './storedRequest.ts'

/** A stored request that satisfied a condition. */
export interface HistoricMatch {
  readonly requestId: number
  readonly receivedAt: Date
}

/** Bodies are read in chunks of about this size, and of at most so many rows. */
const CHUNK_BYTES = 4 * 1024 * 1024
/** What a row weighs besides. */
const ROW_BYTES = 512
const CHUNK_ROWS = { first: 8, min: 2, max: 2000 } as const
/** What a chunk leaves behind: what the database sent, with two digits an octet, its text, and the octets. */
const COPIES = 4

/** Rows are looked at for so long before others have the event loop. */
const WITHOUT_PAUSE_MS = 8

type CandidateRow = StoredRequestRow & { readonly id: number }

interface Range {
  readonly afterId?: number
  readonly since?: Date
  readonly until?: Date
  readonly signal?: AbortSignal
  /** What Postgres passes over. */
  readonly narrowed: ReturnType<typeof narrowing>
  /** Of every query. */
  readonly query?: AbortableQueryOptions
}

/** Which of the matches are wanted: the newest, with a greater id than `afterId`, received from `since` on and before `until`. */
export interface HistoryRange {
  readonly limit: number
  readonly afterId?: number
  readonly since?: Date
  readonly until?: Date
  /** Aborted when the caller hangs up. */
  readonly signal?: AbortSignal
}

/**
 * The newest stored requests of an endpoint that satisfy a condition, newest first. Reads no more than that takes:
 * only the columns that the condition looks at, in chunks, after Postgres passed over what cannot match. Conditions are evaluated in
 * slices of the event loop's time.
 *
 * @param query options of every query
 */
export async function* matchingRequests(
  db: Db,
  endpointId: string,
  condition: Condition,
  range: HistoryRange,
  query: AbortableQueryOptions = {},
): AsyncGenerator<HistoricMatch, void, undefined> {
  const always = condition.test.kind === 'always'
  const rows = always ? range.limit : CHUNK_ROWS.first
  const narrowed = narrowing(condition)
  let left = range.limit
  for await (const row of candidates(db, endpointId, condition, { ...range, narrowed, rows, query })) {
    if (!always && !(await inSlices(holdsInSteps(condition, requestRoot(storedRequest(row)))))) continue
    yield { requestId: row.id, receivedAt: row.receivedAt }
    left -= 1
    if (left === 0) return
  }
}

/** All of {@link matchingRequests}. */
export async function newestMatching(
  db: Db,
  endpointId: string,
  condition: Condition,
  range: HistoryRange,
): Promise<HistoricMatch[]> {
  return await Array.fromAsync(matchingRequests(db, endpointId, condition, range))
}

/**
 * The paths of a condition that lead nowhere in any stored request after `afterId`: none where nothing is stored. Reads
 * the newest requests first, and no more of them than it takes to find each path once.
 */
export async function neverMatchedPaths(
  db: Db,
  endpointId: string,
  condition: Condition,
  { afterId, signal }: { readonly afterId: number; readonly signal?: AbortSignal },
): Promise<readonly Path[]> {
  const paths = pathsOf(condition)
  let left = paths
  let isEmpty = true
  if (left.length === 0) return []
  const range = {
    afterId,
    narrowed: null,
    rows: CHUNK_ROWS.first,
    ...(signal === undefined ? {} : { signal }),
  }
  for await (const row of candidates(db, endpointId, condition, range)) {
    isEmpty = false
    left = unmatchedPaths(left, requestRoot(storedRequest(row)))
    if (left.length === 0) break
  }
  return isEmpty ? [] : left
}

/** The rows of a range, newest first, read in chunks. What is done with them leaves the event loop to others every few milliseconds. */
async function* candidates(
  db: Db,
  endpointId: string,
  condition: Condition,
  { rows: first, signal, ...range }: Range & { readonly rows: number },
): AsyncGenerator<CandidateRow> {
  let belowId = Number.MAX_SAFE_INTEGER
  let rows = first
  for (;;) {
    signal?.throwIfAborted()
    const chunk = await chunkBelow(db, endpointId, condition, { ...range, belowId, rows })
    let beganAt = performance.now()
    for (const row of chunk) {
      yield row
      if (performance.now() - beganAt < WITHOUT_PAUSE_MS) continue
      await setImmediate()
      signal?.throwIfAborted()
      beganAt = performance.now()
    }
    const last = chunk.at(-1)
    const bytes = chunk.reduce((sum, row) => sum + ROW_BYTES + row.body.length + row.headerValues.length, 0)
    countPiece(bytes * COPIES)
    if (last === undefined || chunk.length < rows) return
    belowId = last.id
    const fitting = Math.floor((CHUNK_BYTES * chunk.length) / Math.max(bytes, 1))
    rows = Math.min(Math.max(fitting, CHUNK_ROWS.min), CHUNK_ROWS.max)
  }
}

/** Walks the primary key backwards; what is binned or hidden is no history. */
async function chunkBelow(
  db: Db,
  endpointId: string,
  condition: Condition,
  { narrowed, query: options = {}, ...range }: Range & { readonly belowId: number; readonly rows: number },
): Promise<CandidateRow[]> {
  const read = columnsRead(condition)
  const empty = sql`''::bytea`
  // A body that is too long to be parsed has no members: it need not be read to know that.
  const body =
    read.body === 'whole'
      ? sql`r.body`
      : read.body === 'parsed'
        ? sql`case when octet_length(r.body) > ${PARSED_BODY_BYTES_MAX} then ${empty} else r.body end`
        : empty
  let query = db
    .selectFrom('requests as r')
    .where('r.endpointId', '=', endpointId)
    .where('r.id', '<', range.belowId)
    .where('r.id', '>', range.afterId ?? 0)
    .where('r.deletedAt', 'is', null)
    .where('r.hiddenAt', 'is', null)
  if (range.since !== undefined) query = query.where('r.receivedAt', '>=', range.since)
  if (range.until !== undefined) query = query.where('r.receivedAt', '<', range.until)
  if (narrowed !== null) query = query.where(sql<SqlBool>`${narrowed}`)
  return await query
    .select(['r.id', 'r.endpointId', 'r.receivedAt', 'r.method', 'r.path', 'r.queryString', 'r.contentType'])
    .select(['r.sizeBytes', 'r.bodyTruncated', 'r.ip', 'r.label', 'r.eventId', 'r.verdict', 'r.verdictNote'])
    .select([
      sql<string>`${read.headers ? sql`r.header_names` : sql`''`}`.as('headerNames'),
      sql<Buffer>`${read.headers ? sql`r.header_values` : empty}`.as('headerValues'),
      sql<Buffer>`${body}`.as('body'),
    ])
    .orderBy('r.id', 'desc')
    .limit(range.rows)
    .execute(options)
}
