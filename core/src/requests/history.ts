import { setImmediate } from 'node:timers/promises'
import { type AbortableQueryOptions, type SqlBool, sql } from 'kysely'
import type { Context } from '../api/context.ts'
import {
  type Condition,
  holdsInSteps,
  type Path,
  pathsOf,
  requestRoot,
  unmatchedPathsInSteps,
} from '../engine/conditions/index.ts'
import { PARSED_BODY_BYTES_MAX } from '../engine/message/index.ts'
import type { Db } from '../platform/db/index.ts'
import { countPiece } from '../platform/memory/index.ts'
import { sealedMembers } from '../platform/secrets/index.ts'
import { inSlices } from '../platform/turns/index.ts'
import { columnsRead, MAY_BE_ENCODED, narrowing } from './narrowing.ts'
import { visibleRequests } from './queries.ts'
import { searching } from './searching.ts'
import { type StoredRequestRow, storedRequest } from './storedRequest.ts'

/** A stored request that satisfied a condition. */
export interface HistoricMatch {
  readonly requestId: number
  readonly receivedAt: Date
  readonly imported: boolean
}

/** Size of the chunks in which rows are read, in bytes of their content. */
const CHUNK_BYTES = 4 * 1024 * 1024
/** Size of a row without its headers and body. */
const ROW_BYTES = 512
const CHUNK_ROWS = { first: 8, min: 2, max: 2000 } as const
/** Garbage of reading a chunk, in its sizes: the database's hexadecimal text (two), the JSON text, and the octets. */
const COPIES = 4

/** Time of evaluation before the event loop is yielded. */
const WITHOUT_PAUSE_MS = 8

type CandidateRow = StoredRequestRow & { readonly id: number; readonly imported: boolean }

interface Range extends Omit<HistoryRange, 'limit'> {
  /** SQL by which PostgreSQL skips rows that cannot match; null skips none. */
  readonly narrowed: ReturnType<typeof narrowing>
}

/**
 * Selects the newest `limit` matches with ids between `afterId` and `belowId`, both excluded, received from `since` on
 * and before `until`.
 */
export interface HistoryRange {
  readonly limit: number
  readonly afterId?: number
  readonly belowId?: number
  readonly since?: Date
  readonly until?: Date
  /** Ends the evaluation between two slices: aborted when the caller hangs up. */
  readonly signal?: AbortSignal | undefined
  /** Options of every query. */
  readonly query?: AbortableQueryOptions
}

/**
 * Yields the newest stored requests of an endpoint that satisfy a condition, newest first. It reads only the columns
 * that the condition needs, in chunks, and PostgreSQL skips rows that cannot match. Conditions are evaluated in slices
 * of the event loop's time.
 */
async function* matchingRequests(
  db: Db,
  endpointId: string,
  condition: Condition,
  range: HistoryRange,
): AsyncGenerator<HistoricMatch, void, undefined> {
  const always = condition.test.kind === 'always'
  const rows = always && range.limit <= CHUNK_ROWS.max ? range.limit : CHUNK_ROWS.first
  const narrowed = narrowing(condition)
  let left = range.limit
  for await (const row of candidates(db, endpointId, condition, { ...range, narrowed, rows })) {
    if (!always && !(await inSlices(holdsInSteps(condition, requestRoot(storedRequest(row)))))) continue
    yield { requestId: row.id, receivedAt: row.receivedAt, imported: row.imported }
    left -= 1
    if (left === 0) return
  }
}

/** Collects all of {@link matchingRequests}. */
export async function newestMatching(
  db: Db,
  endpointId: string,
  condition: Condition,
  range: HistoryRange,
): Promise<HistoricMatch[]> {
  return await Array.fromAsync(matchingRequests(db, endpointId, condition, range))
}

/**
 * Finds the paths of a condition that exist in no stored request between `afterId` and `belowId`. The result is empty if
 * none is stored. It reads the newest requests first, and stops once it has found each path. Paths are looked for in
 * slices of the event loop's time.
 */
export async function neverMatchedPaths(
  db: Db,
  endpointId: string,
  condition: Condition,
  {
    afterId,
    belowId,
    signal,
    query,
  }: Required<Pick<HistoryRange, 'afterId' | 'belowId' | 'signal' | 'query'>>,
): Promise<readonly Path[]> {
  const paths = pathsOf(condition, { absent: false })
  let left = paths
  let isEmpty = true
  if (left.length === 0) return []
  const range = { afterId, belowId, signal, query, narrowed: null, rows: CHUNK_ROWS.first }
  for await (const row of candidates(db, endpointId, condition, range)) {
    isEmpty = false
    left = await inSlices(unmatchedPathsInSteps(left, requestRoot(storedRequest(row))))
    if (left.length === 0) break
  }
  return isEmpty ? [] : left
}

/** Yields the rows of a range, newest first, read in chunks. Yields the event loop every few milliseconds. */
async function* candidates(
  db: Db,
  endpointId: string,
  condition: Condition,
  { rows: first, signal, belowId = Number.MAX_SAFE_INTEGER, ...range }: Range & { readonly rows: number },
): AsyncGenerator<CandidateRow> {
  let below = belowId
  let rows = first
  for (;;) {
    signal?.throwIfAborted()
    const chunk = await chunkBelow(db, endpointId, condition, { ...range, belowId: below, rows })
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
    below = last.id
    const fitting = Math.floor((CHUNK_BYTES * chunk.length) / Math.max(bytes, 1))
    rows = Math.min(Math.max(fitting, CHUNK_ROWS.min), CHUNK_ROWS.max)
  }
}

/** Reads a chunk of visible requests along the primary key, backwards. */
async function chunkBelow(
  db: Db,
  endpointId: string,
  condition: Condition,
  { narrowed, query: options = {}, ...range }: Range & { readonly belowId: number; readonly rows: number },
): Promise<CandidateRow[]> {
  const read = columnsRead(condition)
  const empty = sql`''::bytea`
  // How a body is encoded is said by its headers.
  const isWithHeaders = read.headers ? sql`true` : read.body === 'no' ? sql`false` : MAY_BE_ENCODED
  // A body that is too long to be parsed has no members, so it need not be read.
  const body =
    read.body === 'whole'
      ? sql`r.body`
      : read.body === 'parsed'
        ? sql`case when octet_length(r.body) > ${PARSED_BODY_BYTES_MAX} and not ${MAY_BE_ENCODED} then ${empty} else r.body end`
        : empty
  let query = visibleRequests(db, endpointId)
    .where('r.id', '<', range.belowId)
    .where('r.id', '>', range.afterId ?? 0)
  if (range.since !== undefined) query = query.where('r.receivedAt', '>=', range.since)
  if (range.until !== undefined) query = query.where('r.receivedAt', '<', range.until)
  // PostgreSQL cannot evaluate a sealed row.
  if (narrowed !== null) query = query.where(sql<SqlBool>`(r.sealed_with is not null or ${narrowed})`)
  return await query
    .select(['r.id', 'r.endpointId', 'r.receivedAt', 'r.method', 'r.path', 'r.queryString', 'r.contentType'])
    .select(['r.sizeBytes', 'r.bodyTruncated', 'r.ip', 'r.label', 'r.eventId', 'r.verdict', 'r.verdictNote'])
    .select('r.imported')
    .select([
      sql<string>`case when ${isWithHeaders} then r.header_names else '' end`.as('headerNames'),
      sql<Buffer>`case when ${isWithHeaders} then r.header_values else ${empty} end`.as('headerValues'),
      sql<Buffer>`${body}`.as('body'),
    ])
    .select(sealedMembers('r'))
    .orderBy('r.id', 'desc')
    .limit(range.rows)
    .execute(options)
}

/**
 * {@link matchingRequests}, with a limit of captures. Ids of captures follow their times; imported requests may be older
 * than captures with lower ids, so they do not count.
 */
async function* newestCaptures(
  db: Db,
  endpointId: string,
  condition: Condition,
  range: HistoryRange,
): AsyncGenerator<HistoricMatch, void, undefined> {
  let left = range.limit
  const all = { ...range, limit: Number.MAX_SAFE_INTEGER }
  for await (const match of matchingRequests(db, endpointId, condition, all)) {
    yield match
    if (!match.imported) left -= 1
    if (left === 0) return
  }
}

/**
 * Searches all stored requests of an endpoint for the latest that satisfies a condition, as long as that takes. It runs
 * as a search: see {@link searching}.
 *
 * @throws LineTooLong as {@link searching} does
 */
export async function searchNewest(
  ctx: Pick<Context, 'reads' | 'signal' | 'workspace'>,
  endpointId: string,
  condition: Condition,
): Promise<HistoricMatch | undefined> {
  return await searching(ctx, `newest of ${endpointId}`, async (db, query) => {
    const range = { limit: 1, signal: ctx.signal, query }
    let latest: HistoricMatch | undefined
    for await (const match of newestCaptures(db, endpointId, condition, range))
      if (latest === undefined || match.receivedAt > latest.receivedAt) latest = match
    return latest
  })
}

interface SearchedRange extends HistoryRange {
  /**
   * Time limit of the search. It ends queries only: no `signal` of the range is set, so rows that were read by then are
   * still evaluated. The matches found are the answer.
   */
  readonly budgetMs?: number
}

/** Matches of a condition in the stored requests, the latest first. */
export interface HistorySearch {
  readonly matches: readonly HistoricMatch[]
  /** False if the time limit ended the search before the end of the history and before `limit` matches. */
  readonly isComplete: boolean
}

/** Matches that are kept while imported ones are read, as a multiple of those that are asked for. */
const KEPT_TIMES = 20

/**
 * Searches the stored requests of an endpoint for the latest that satisfy a condition. It runs as a search: see
 * {@link searching}.
 *
 * @throws LineTooLong as {@link searching} does
 */
export async function searchHistory(
  ctx: Pick<Context, 'reads' | 'signal' | 'workspace'>,
  endpointId: string,
  condition: Condition,
  { budgetMs = 3_000, ...range }: SearchedRange,
): Promise<HistorySearch> {
  return await searching(ctx, `history of ${endpointId}`, async (db, options) => {
    const deadline = AbortSignal.timeout(budgetMs)
    const signal = AbortSignal.any([ctx.signal, deadline])
    const { limit } = range
    const searched = { ...range, query: { ...options, signal } }
    let matches: HistoricMatch[] = []
    try {
      for await (const match of newestCaptures(db, endpointId, condition, searched)) {
        matches.push(match)
        if (matches.length === KEPT_TIMES * limit) matches = latestOf(matches, limit)
      }
    } catch (error) {
      if (!deadline.aborted || ctx.signal.aborted) throw error
      return { matches: latestOf(matches, limit), isComplete: false }
    }
    return { matches: latestOf(matches, limit), isComplete: true }
  })
}

function latestOf(matches: readonly HistoricMatch[], limit: number): HistoricMatch[] {
  const byTime = (a: HistoricMatch, b: HistoricMatch) =>
    b.receivedAt.getTime() - a.receivedAt.getTime() || b.requestId - a.requestId
  return matches.toSorted(byTime).slice(0, limit)
}
