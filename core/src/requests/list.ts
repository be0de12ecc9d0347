import type { AbortableQueryOptions } from 'kysely'
import type { Context } from '../api/context.ts'
import { type Between, type IdPlace, idCursor } from '../api/cursors.ts'
import { DomainError, notFound } from '../api/errors.ts'
import { type Page, window } from '../api/pagination.ts'
import { type EndpointRow, findsEndpoint } from '../endpoints/index.ts'
import { countingWaits, type Db, isStatementTimeout } from '../platform/db/index.ts'
import { isRange } from './filters.ts'
import { isUuid } from './find.ts'
import { type RequestSummaryRow, summariesOf } from './queries.ts'
import { countRange, type IdRange, searchTotals } from './rangeTotals.ts'
import { readPage } from './reads.ts'
import { type Found, type Pace, PROMPT, scanRequests, THOROUGH, type Wanted } from './scan.ts'
import type { ListFilters, Order } from './schema.ts'
import { searching } from './searching.ts'
import { NO_SHORTCUT, shortcutOf } from './searchShortcut.ts'

/** Time limit of a search that must reach its end, without the waits for its turns. */
const EXACT_MS = 5_000
/** Time limit with the waits for other searches. */
const EXACT_WALL_MS = 30_000

/** A page of the list: by number, from a cursor if there is one. */
export type ListedPage = Page &
  Between<IdPlace> & {
    readonly order: Order
    /** Code of the shortcut of the search that ended at the cursor. */
    readonly note?: string | undefined
    /** Whether a search may end at its time limit, with the matches so far. With a cursor it always may. */
    readonly partial?: boolean | undefined
  }

export interface ListedRequests {
  readonly rows: readonly RequestSummaryRow[]
  readonly totalCount: number
  readonly next: string | null
  readonly previous: string | null
  /** Null without filters. */
  readonly search: SearchReport | null
}

interface SearchReport {
  readonly complete: boolean
  readonly lookedThrough: number
  readonly matchedCount: number
  /** Whether text was searched although the endpoint has encrypted requests, which have none. */
  readonly sealed: boolean
  /** Null if `totalCount` of the page is an estimate. */
  readonly totalCount: number | null
}

/**
 * Reads one page of an endpoint's stored requests in the given order, with the number of matches.
 *
 * @param endpointId text from the path, not validated yet
 * @throws DomainError `not_found` for an absent, deleted, foreign or malformed id alike; `unavailable` for a search that
 *   may not be partial and takes too long; errors of {@link searching}
 */
export async function listRequests(
  ctx: Context,
  endpointId: string,
  filters: ListFilters,
  page: ListedPage,
): Promise<ListedRequests> {
  if (isRange(filters)) return await listRange(ctx, endpointId, filters, page)
  const { endpoint } = await findsEndpoint(ctx, { endpointId })
  return await searchRequests(ctx, endpoint, filters, page)
}

/** Nothing is searched where only bounds of ids are given, so clients that poll for new requests do not wait behind searches. */
async function listRange(
  ctx: Context,
  endpointId: string,
  { afterId, beforeId }: ListFilters,
  page: ListedPage,
): Promise<ListedRequests> {
  if (!isUuid(endpointId)) throw notFound('endpoint')
  const isBounded = afterId !== undefined || beforeId !== undefined
  return await ctx.reads.run(async ({ db }) => {
    const range = { ...page, ...boundsOf({ afterId, beforeId }, page) }
    const found = await readPage(db, ctx.workspace.id, endpointId, range)
    if (found === undefined) throw notFound('endpoint')
    const { rows } = found
    const { totalCount, isExact } = isBounded
      ? await countRange(db, endpointId, { above: afterId, below: beforeId })
      : { totalCount: found.totalCount, isExact: true }
    const ids = rows.map(({ id }) => id)
    const cursors = cursorsOf(ids, page, null)
    if (!isBounded && page.order === 'desc') return { rows, totalCount, ...cursors, search: null }
    const lookedThrough = isExact ? totalCount : window(page).offset + rows.length
    const search = {
      complete: true,
      lookedThrough,
      matchedCount: lookedThrough,
      sealed: false,
      totalCount: isExact ? totalCount : null,
    }
    return { rows, totalCount, ...cursors, search }
  })
}

/** Bounds of the ids of a page. A cursor is of a place in the list, so its side follows the order. */
function boundsOf(
  { afterId, beforeId }: Pick<ListFilters, 'afterId' | 'beforeId'>,
  { before, after, order }: ListedPage,
): IdRange {
  const [below, above] = order === 'asc' ? [after, before] : [before, after]
  return { below: least(beforeId, below), above: greatest(afterId, above) }
}

async function searchRequests(
  ctx: Context,
  {
    id: endpointId,
    storedRequestCount: storedCount,
    encryptBodies,
    hasDataKey,
  }: Pick<EndpointRow, 'id' | 'storedRequestCount' | 'encryptBodies' | 'hasDataKey'>,
  filters: ListFilters,
  page: ListedPage,
): Promise<ListedRequests> {
  const { limit, offset } = window(page)
  const { before, after, order } = page
  const { below, above } = boundsOf(filters, page)
  const hasCursor = before !== undefined || after !== undefined
  const wanted = {
    filters: { ...filters, beforeId: below, afterId: above },
    order,
    learned: learnedBy(filters, page),
    skip: offset,
    take: limit,
    countsAll: !hasCursor,
  }
  const pageOf = async (db: Db, options: AbortableQueryOptions, found: Found): Promise<ListedRequests> => {
    const { ids, matchedCount, lookedTo, skipped } = found
    // Pages also count requests that are in the recycle bin, or evicted.
    const lookedThrough =
      found.lookedThrough + Math.max(0, Math.min(skipped, storedCount - found.lookedThrough))
    const { totalCount, isExact } = searchTotals(
      { ...found, lookedThrough },
      { filters, hasCursor, storedCount },
    )
    return {
      rows: await summariesOf(db, endpointId, ids, options, order),
      totalCount,
      ...cursorsOf(ids, page, lookedTo, noteOf(filters, found)),
      search: {
        complete: lookedTo === null,
        lookedThrough,
        matchedCount,
        sealed: filters.q !== undefined && (encryptBodies || hasDataKey === true),
        totalCount: isExact ? totalCount : null,
      },
    }
  }
  if (!hasCursor && page.partial !== true) {
    const found = await searchToEnd(ctx, endpointId, wanted)
    return await ctx.reads.run(({ db }) => pageOf(db, { signal: ctx.signal }, found))
  }
  return await searching(ctx, kindOf(endpointId, filters), async (db, options) =>
    pageOf(db, options, await scanRequests(db, endpointId, wanted, options, paceOf(filters))),
  )
}

/**
 * Searches to the end, in pieces, so that other searches of the workspace get their turns in between.
 *
 * @throws DomainError `unavailable` at the time limit
 */
async function searchToEnd(ctx: Context, endpointId: string, wanted: Wanted): Promise<Found> {
  const { order, skip, take } = wanted
  let { filters } = wanted
  let workedMs = 0
  const endsAt = performance.now() + EXACT_WALL_MS
  const ids: number[] = []
  let matchedCount = 0
  let lookedThrough = 0
  let skipped = 0
  let { learned } = wanted
  do {
    const rest: Wanted = {
      ...wanted,
      learned,
      filters,
      skip: Math.max(0, skip - matchedCount),
      take: take - ids.length,
      countsAll: true,
    }
    const part = await searching(ctx, kindOf(endpointId, filters), async (searches, options) => {
      const { db, waitedMs } = countingWaits(searches)
      const beganAt = performance.now()
      const scanned = await scanRequests(db, endpointId, rest, options, paceOf(filters))
      workedMs += performance.now() - beganAt - waitedMs()
      return scanned
    }).catch((error: unknown) => {
      throw isStatementTimeout(error) ? endless(error) : error
    })
    ids.push(...part.ids)
    matchedCount += part.matchedCount
    lookedThrough += part.lookedThrough
    skipped += part.skipped
    learned = part.learned
    if (part.lookedTo === null) return { ...part, ids, matchedCount, lookedThrough, skipped }
    filters = { ...filters, [order === 'asc' ? 'afterId' : 'beforeId']: part.lookedTo }
  } while (workedMs < EXACT_MS && performance.now() < endsAt)
  throw endless()
}

/** @param cause the time limit of a single statement, if that was passed first */
function endless(cause?: unknown): DomainError {
  return new DomainError(
    'unavailable',
    `The search did not reach its end in ${EXACT_MS / 1000} s. Read it by cursors: send partial=true, then the next of each answer as before.`,
    { retryAfterSeconds: EXACT_MS / 1000, cause },
  )
}

/** The shortcut that a cursor brings back, so that it is chosen once for a search of many answers. */
function learnedBy({ q }: ListFilters, { note }: ListedPage): Wanted['learned'] {
  if (q === undefined || note === undefined) return undefined
  return { shortcut: shortcutOf(q, note) ?? null }
}

function noteOf({ q }: ListFilters, { learned: { shortcut } }: Found): string | undefined {
  return q === undefined || shortcut === undefined ? undefined : (shortcut?.code ?? NO_SHORTCUT)
}

/** Pace of a scan. Bodies take longest to search, so a text search answers each page promptly. */
function paceOf({ q }: Partial<ListFilters>): Pace {
  return q === undefined ? THOROUGH : PROMPT
}

/** Label of scans that take about the same time: by endpoint, and by whether they read bodies. */
function kindOf(endpointId: string, { q }: Partial<ListFilters>): string {
  return `${q === undefined ? 'filters' : 'text'} ${endpointId}`
}

/**
 * Cursors of a page. The next page begins after the last item of a full page, else after the end of the scan; null at
 * the end.
 */
function cursorsOf(ids: readonly number[], { pageSize }: Page, lookedTo: number | null, note?: string) {
  const continuesAfter = ids.length < pageSize ? lookedTo : (ids.at(-1) ?? null)
  return {
    next: continuesAfter === null ? null : idCursor('requests', continuesAfter, note),
    previous: ids[0] === undefined ? null : idCursor('requests', ids[0]),
  }
}

const least = (left: number | undefined, right: number | undefined) =>
  left === undefined || right === undefined ? (left ?? right) : Math.min(left, right)

const greatest = (left: number | undefined, right: number | undefined) =>
  left === undefined || right === undefined ? (left ?? right) : Math.max(left, right)

/** Question for the older requests of an endpoint, newest first. */
export interface OlderInput {
  readonly filters: ListFilters
  readonly limit: number
}

/** Reads older requests, newest first, without a total. `hasMore` and `nextBeforeId` are as for {@link selectIds}. */
export async function listOlder(ctx: Context, endpointId: string, input: OlderInput) {
  return await searching(ctx, kindOf(endpointId, input.filters), async (db, options) => {
    const { ids, ...more } = await olderIds(db, endpointId, input, options, paceOf(input.filters))
    return { rows: await summariesOf(db, endpointId, ids, options), ...more }
  })
}

/**
 * Reads the ids of matching requests, newest first, for work on many of them. `hasMore` says whether there may be
 * others, with ids below `nextBeforeId`: also if the time limit ended the search before it had found `limit`.
 */
export async function selectIds(ctx: Context, endpointId: string, input: OlderInput) {
  return await searching(ctx, kindOf(endpointId, input.filters), (db, options) =>
    olderIds(db, endpointId, input, options, THOROUGH),
  )
}

async function olderIds(
  db: Parameters<typeof scanRequests>[0],
  endpointId: string,
  { filters, limit }: OlderInput,
  options: Parameters<typeof scanRequests>[3],
  pace: Pace,
) {
  const wanted = { filters, skip: 0, take: limit + 1, countsAll: false }
  const { ids, lookedTo } = await scanRequests(db, endpointId, wanted, options, pace)
  const first = ids.slice(0, limit)
  const nextBeforeId = ids.length > limit ? (first.at(-1) ?? null) : lookedTo
  return { ids: first, hasMore: nextBeforeId !== null, nextBeforeId }
}
