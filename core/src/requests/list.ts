import type { Context } from '../api/context.ts'
import { notFound } from '../api/errors.ts'
import type { Page } from '../api/pagination.ts'
import { findsEndpoint } from '../endpoints/index.ts'
import { hasFilters } from './filters.ts'
import { isUuid } from './find.ts'
import { olderIds, olderRequests, type RequestSummaryRow, searchRequests } from './queries.ts'
import { readPage } from './reads.ts'
import type { ListFilters } from './schema.ts'
import { searching } from './searching.ts'

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
  page: Page,
): Promise<{ rows: RequestSummaryRow[]; totalCount: number }> {
  if (hasFilters(filters)) {
    const { endpoint } = await findsEndpoint(ctx, { endpointId })
    return await searching(ctx, (db, options) => searchRequests(db, endpoint.id, filters, page, options))
  }
  const found = isUuid(endpointId) ? await readPage(ctx.db, ctx.workspace.id, endpointId, page) : undefined
  if (found === undefined) throw notFound('endpoint')
  return found
}

/** What of an endpoint is older than some request, newest first. */
export interface OlderInput {
  readonly filters: ListFilters
  readonly limit: number
}

/** Older requests without counting all: `hasMore` says whether there are others. */
export async function listOlder(ctx: Context, endpointId: string, { filters, limit }: OlderInput) {
  const rows = await searching(ctx, (db, options) =>
    olderRequests(db, endpointId, filters, limit + 1, options),
  )
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit }
}

/** The ids of requests that match, newest first, for work on many of them. */
export async function selectIds(ctx: Context, endpointId: string, { filters, limit }: OlderInput) {
  const ids = await searching(ctx, (db, options) => olderIds(db, endpointId, filters, limit + 1, options))
  return { ids: ids.slice(0, limit), hasMore: ids.length > limit }
}
