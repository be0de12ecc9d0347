import type { AbortableQueryOptions } from 'kysely'
import type { Context } from '../api/context.ts'
import { type Between, type IdPlace, idCursor } from '../api/cursors.ts'
import { notFound } from '../api/errors.ts'
import { type Page, window } from '../api/pagination.ts'
import { type EndpointRow, findsEndpoint } from '../endpoints/index.ts'
import type { Db } from '../platform/db/index.ts'
import { hasFilters, isRange } from './filters.ts'
import { isUuid } from './find.ts'
import { type RequestSummaryRow, summariesOf } from './queries.ts'
import { readPage } from './reads.ts'
import { type Found, type Pace, PROMPT, scanRequests, THOROUGH } from './scan.ts'
import type { ListFilters } from './schema.ts'
import { searching } from './searching.ts'
import { searchTotals } from './searchTotals.ts'

/**
 * A range of ids of which one step of a scan reads all is no search: so clients that poll for what is new wait for none. Longer ones
 * are counted as searches are.
 */
const ONE_STEP: Pace = { ...THOROUGH, budgetMs: 0 }

/** Which page of the list: by number, from a cursor if there is one. */
export type ListedPage = Page & Between<IdPlace>

/** A page of the list with the cursors beside it. */
export interface ListedRequests {
  readonly rows: readonly RequestSummaryRow[]
  readonly totalCount: number
  readonly next: string | null
  readonly previous: string | null
  /** Null without filters: nothing had to be looked through. */
  readonly search: SearchReport | null
}

/** How far a search came. */
interface SearchReport {
  readonly complete: boolean
  readonly lookedThrough: number
  readonly matchedCount: number
  /** Null where `totalCount` of the page is an estimate. */
  readonly totalCount: number | null
}

/**
 * One page of an endpoint's stored requests, newest first, and how many match the filters.
 *
 * @param endpointId as the path spells it
 * @throws DomainError `not_found` for an absent, deleted, foreign or malformed id alike; what {@link searching} throws
 */
export async function listRequests(
  ctx: Context,
  endpointId: string,
  filters: ListFilters,
  page: ListedPage,
): Promise<ListedRequests> {
  if (hasFilters(filters)) {
    const { endpoint } = await findsEndpoint(ctx, { endpointId })
    return await searchRequests(ctx, endpoint, filters, page)
  }
  const found = isUuid(endpointId)
    ? await ctx.reads.run(({ db }) => readPage(db, ctx.workspace.id, endpointId, page))
    : undefined
  if (found === undefined) throw notFound('endpoint')
  const ids = found.rows.map(({ id }) => id)
  return { ...found, ...cursorsOf(ids, page, null), search: null }
}

async function searchRequests(
  ctx: Context,
  { id: endpointId, storedRequestCount: storedCount }: Pick<EndpointRow, 'id' | 'storedRequestCount'>,
  filters: ListFilters,
  page: ListedPage,
): Promise<ListedRequests> {
  const { limit, offset } = window(page)
  const { before, after } = page
  const hasCursor = before !== undefined || after !== undefined
  const wanted = {
    filters: {
      ...filters,
      beforeId: least(filters.beforeId, before),
      afterId: greatest(filters.afterId, after),
    },
    skip: offset,
    take: limit,
    countsAll: !hasCursor,
  }
  const pageOf = async (db: Db, options: AbortableQueryOptions, found: Found): Promise<ListedRequests> => {
    const { ids, lookedThrough, matchedCount, lookedDownTo } = found
    const { totalCount, isExact } = searchTotals(found, { filters, hasCursor, storedCount })
    return {
      rows: await summariesOf(db, endpointId, ids, options),
      totalCount,
      ...cursorsOf(ids, page, lookedDownTo),
      search: {
        complete: lookedDownTo === null,
        lookedThrough,
        matchedCount,
        totalCount: isExact ? totalCount : null,
      },
    }
  }
  if (isRange(filters)) {
    const options = { signal: ctx.signal }
    const short = await ctx.reads.run(async ({ db }) => {
      const found = await scanRequests(db, endpointId, wanted, options, ONE_STEP)
      const isWhole = found.lookedDownTo === null || (!wanted.countsAll && found.ids.length >= limit)
      return isWhole ? await pageOf(db, options, found) : undefined
    })
    if (short !== undefined) return short
  }
  return await searching(ctx, kindOf(endpointId, filters), async (db, options) =>
    pageOf(db, options, await scanRequests(db, endpointId, wanted, options, paceOf(filters))),
  )
}

/** Bodies take longest to look through: what a text search finds is answered page by page. */
function paceOf({ q }: ListFilters): Pace {
  return q === undefined ? THOROUGH : PROMPT
}

/** What scans of the same kind have in common: where they look, and whether they read bodies for it. */
function kindOf(endpointId: string, { q }: ListFilters): string {
  return `${q === undefined ? 'filters' : 'text'} ${endpointId}`
}

/** A page that is full goes on below its last item, another where the scan ended; null at the end of all. */
function cursorsOf(ids: readonly number[], { pageSize }: Page, lookedDownTo: number | null) {
  const goesOnBelow = ids.length < pageSize ? lookedDownTo : (ids.at(-1) ?? null)
  return {
    next: goesOnBelow === null ? null : idCursor(goesOnBelow),
    previous: ids[0] === undefined ? null : idCursor(ids[0]),
  }
}

const least = (left: number | undefined, right: number | undefined) =>
  left === undefined || right === undefined ? (left ?? right) : Math.min(left, right)

const greatest = (left: number | undefined, right: number | undefined) =>
  left === undefined || right === undefined ? (left ?? right) : Math.max(left, right)

/** What of an endpoint is older than some request, newest first. */
export interface OlderInput {
  readonly filters: ListFilters
  readonly limit: number
}

/** Older requests without counting all; see {@link selectIds}. */
export async function listOlder(ctx: Context, endpointId: string, input: OlderInput) {
  return await searching(ctx, kindOf(endpointId, input.filters), async (db, options) => {
    const { ids, ...more } = await olderIds(db, endpointId, input, options, paceOf(input.filters))
    return { rows: await summariesOf(db, endpointId, ids, options), ...more }
  })
}

/**
 * The ids of requests that match, newest first, for work on many of them. `hasMore` says whether there may be others, with
 * ids below `nextBeforeId`: also when the time of the search was up before it had found `limit`.
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
  const { ids, lookedDownTo } = await scanRequests(db, endpointId, wanted, options, pace)
  const first = ids.slice(0, limit)
  const nextBeforeId = ids.length > limit ? (first.at(-1) ?? null) : lookedDownTo
  return { ids: first, hasMore: nextBeforeId !== null, nextBeforeId }
}
