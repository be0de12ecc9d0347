import { type Db, type RowsOf, run, statement } from '../platform/db/index.ts'
import { applyFilters, hasFilters } from './filters.ts'
import { type RequestSummaryRow, summaries } from './queries.ts'
import type { RequestFilters } from './schema.ts'
import { outcomes } from './state.ts'

/** The most requests that one event holds. */
export const ARRIVALS_MAX = 100

/** A follower that is further behind reads pages instead: that is cheaper than streaming. */
export const BEHIND_MAX = 1_000

export type ArrivalFilters = RequestFilters & { readonly afterId: number }

/** Requests that arrived after a given one, oldest first. */
export interface Arrivals {
  readonly rows: readonly RequestSummaryRow[]
  /** Every request up to this id was looked at, also those that do not match. */
  readonly lastId: number
  readonly hasMore: boolean
  /** Number of requests up to `lastId` that do not match; deleted ones are not counted. */
  readonly passedCount: number
  /** Whether so many follow that the follower must read pages; then `rows` is empty and `lastId` the newest. */
  readonly isBehind: boolean
  /** Number of stored requests; only from {@link newestArrivals}. */
  readonly totalCount?: number
}

export interface RequestStateRow {
  readonly id: number
  /** See {@link outcomeOf}. */
  readonly outcomes: readonly string[]
}

const NEWEST = statement('newest request', 'select max(id) as id from requests where endpoint_id = $1::uuid')

/** Largest request id of the endpoint; 0 if it has none. */
export async function newestRequestId(db: Db, endpointId: string): Promise<number> {
  const [row] = await run(db, NEWEST, [endpointId])
  return row?.id ?? 0
}

const COUNT_AFTER = statement(
  'count requests after',
  `select count(*)::int as count from (
    select from requests where endpoint_id = $1::uuid and id > $2::bigint and id <= $3::bigint limit $4::int
  ) found`,
)

const COUNT_SHOWN = statement(
  'count shown requests after',
  `select count(*)::int as count from requests
   where endpoint_id = $1::uuid and id > $2::bigint and id <= $3::bigint and deleted_at is null and hidden_at is null`,
)

/**
 * Reads requests that arrived after `afterId` and pass the other filters. Ids are in the order of commits, so no request
 * can appear later below an id that was seen.
 *
 * @param behindMax a follower with more requests to come than this is behind; at most {@link BEHIND_MAX}
 */
export async function listArrivals(
  db: Db,
  endpointId: string,
  { afterId, ...filters }: ArrivalFilters,
  behindMax: number = BEHIND_MAX,
): Promise<Arrivals> {
  const newestId = await newestRequestId(db, endpointId)
  if (newestId <= afterId)
    return { rows: [], lastId: afterId, hasMore: false, isBehind: false, passedCount: 0 }
  const [counted] = await run(db, COUNT_AFTER, [endpointId, afterId, newestId, BEHIND_MAX + 1])
  const count = counted?.count ?? 0
  if (count > behindMax) {
    return { rows: [], lastId: newestId, hasMore: false, isBehind: true, passedCount: 0 }
  }
  const rows = await applyFilters(summaries(db, endpointId), { ...filters, afterId })
    .where('r.id', '<=', newestId)
    .orderBy('r.id', 'asc')
    .limit(ARRIVALS_MAX)
    .execute()
  const last = rows.length < ARRIVALS_MAX ? undefined : rows.at(-1)
  const lastId = last?.id ?? newestId
  // Without filters nothing is passed over, and the count is not needed.
  const isNarrowed = count > rows.length && hasFilters(filters)
  const [shown] = isNarrowed ? await run(db, COUNT_SHOWN, [endpointId, afterId, lastId]) : []
  return {
    rows,
    lastId,
    hasMore: lastId < newestId,
    isBehind: false,
    passedCount: Math.max(0, (shown?.count ?? 0) - rows.length),
  }
}

/**
 * Reads the newest requests, oldest first, at least up to `lastId`. For followers that are too far behind to be sent
 * all.
 */
export async function newestArrivals(
  db: Db,
  endpointId: string,
  lastId: number,
): Promise<Required<Pick<Arrivals, 'rows' | 'lastId' | 'totalCount'>>> {
  const newest = await summaries(db, endpointId).orderBy('r.id', 'desc').limit(ARRIVALS_MAX).execute()
  const { storedRequestCount } = await db
    .selectFrom('endpointCounters')
    .where('endpointId', '=', endpointId)
    .select('storedRequestCount')
    .executeTakeFirstOrThrow()
  const rows = newest.toReversed()
  return { rows, lastId: Math.max(lastId, rows.at(-1)?.id ?? 0), totalCount: storedRequestCount }
}

/** Reads the states of requests; deleted ones are left out. */
export async function listStates(
  db: Db,
  endpointId: string,
  ids: readonly number[],
): Promise<readonly RequestStateRow[]> {
  if (ids.length === 0) return []
  return await summaries(db, endpointId)
    .clearSelect()
    .select(['r.id', outcomes.as('outcomes')])
    .where('r.id', 'in', ids)
    .execute()
}

const RECENT_ATTEMPTS = statement(
  'recent attempts',
  `(select id, request_id, state from delivery_attempts
    where endpoint_id = $1::uuid order by id desc limit $2::int)
  union
  select id, request_id, state from delivery_attempts
  where endpoint_id = $1::uuid and id = any($3::bigint[])
  order by id`,
)

/** Reads the newest attempts of an endpoint and those of `ids`, oldest first. */
export async function findRecentAttempts(
  db: Db,
  endpointId: string,
  limit: number,
  ids: readonly number[],
): Promise<readonly RowsOf<typeof RECENT_ATTEMPTS>[]> {
  return await run(db, RECENT_ATTEMPTS, [endpointId, limit, ids])
}

const IS_THERE = statement(
  'is endpoint there',
  'select from endpoints where id = $1::uuid and deleted_at is null',
)

/** Whether the endpoint exists and is not deleted. */
export async function isEndpointThere(db: Db, endpointId: string): Promise<boolean> {
  return (await run(db, IS_THERE, [endpointId])).length > 0
}
