import { type Db, run, statement } from '../platform/db/index.ts'
import type { Found } from './scan.ts'
import type { ListFilters } from './schema.ts'

/** Bounds of ids, both exclusive. */
export interface IdRange {
  readonly below?: number | undefined
  readonly above?: number | undefined
}

/** The most rows on either side of a bound that are counted. */
const COUNTED_MAX = 10_000

/** SQL of a limited count of requests of the endpoint `$1`, in any state: whether it is whole, and the visible ones. */
const counted = (where: string, order: 'asc' | 'desc') => `
  select count(*) <= ${COUNTED_MAX} as is_whole, count(*) filter (where is_visible)::int as visible
  from (
    select deleted_at is null and hidden_at is null as is_visible
    from requests where endpoint_id = $1::uuid and ${where} order by id ${order} limit ${COUNTED_MAX + 1}
  ) r`

/** Requests of the endpoint `$1` with ids below `$2` and above `$3`. */
const COUNT_WITHIN = statement(
  'count requests of range',
  counted('id < $2::bigint and id > $3::bigint', 'asc'),
)

/** The requests beyond both bounds, all of the endpoint, and the share of its ids that is within. */
const COUNT_BEYOND = statement(
  'count requests beyond range',
  `select c.stored_request_count as stored, above.is_whole and below.is_whole as is_whole, above.visible + below.visible as visible,
    coalesce(
      (least($2::bigint, newest.id + 1) - greatest($3::bigint, c.oldest_request_id - 1) - 1)::float8
        / nullif(newest.id - c.oldest_request_id + 1, 0), 1) as share
  from endpoint_counters c
  cross join lateral (${counted('id <= $3::bigint and id >= c.oldest_request_id', 'asc')}) below
  cross join lateral (${counted('id >= $2::bigint', 'asc')}) above
  cross join lateral (select max(id) as id from requests where endpoint_id = $1::uuid) newest
  where c.endpoint_id = $1::uuid`,
  { isPrepared: false },
)

export interface RangeTotal {
  readonly totalCount: number
  readonly isExact: boolean
}

/**
 * The number of visible requests of an endpoint between two ids. It is exact where the range, or what is beyond it, has
 * at most {@link COUNTED_MAX} requests, so that it costs the same however much is stored. Else it is an estimate.
 */
export async function countRange(
  db: Db,
  endpointId: string,
  { below = Number.MAX_SAFE_INTEGER, above = -1 }: IdRange,
): Promise<RangeTotal> {
  const [within] = await run(db, COUNT_WITHIN, [endpointId, below, above])
  if (within?.isWhole === true) return { totalCount: within.visible, isExact: true }
  const [beyond] = await run(db, COUNT_BEYOND, [endpointId, below, above])
  if (beyond === undefined) return { totalCount: 0, isExact: true }
  if (beyond.isWhole) return { totalCount: beyond.stored - beyond.visible, isExact: true }
  const estimate = Math.round(beyond.stored * Math.max(0, Math.min(1, beyond.share)))
  return { totalCount: Math.min(beyond.stored, Math.max(within?.visible ?? 0, estimate)), isExact: false }
}

/** Total of a search, as far as one call can know it. */
interface SearchTotals {
  /**
   * Number of all matches: exact if `isExact`, else an estimate. It is not 0 while stored requests were not looked
   * through.
   */
  readonly totalCount: number
  readonly isExact: boolean
}

interface Asked {
  readonly filters: Partial<ListFilters>
  /** Whether the call began or ended at the cursor of a page. */
  readonly hasCursor: boolean
  /** Number of visible requests of the endpoint. */
  readonly storedCount: number
}

/**
 * The total of a search. It is exact if the call looked through everything. Else the searched part is a sample of all
 * stored requests. Filters by id narrow the requests by an unknown part: with them the total is the number of matches
 * found.
 */
export function searchTotals(
  { matchedCount, lookedThrough, lookedTo }: Pick<Found, 'matchedCount' | 'lookedThrough' | 'lookedTo'>,
  { filters, hasCursor, storedCount }: Asked,
): SearchTotals {
  const isOver = lookedTo === null
  if (isOver && !hasCursor) return { totalCount: matchedCount, isExact: true }
  const { afterId, beforeId, eventId } = filters
  const isSample = afterId === undefined && beforeId === undefined && eventId === undefined
  const share = isSample && lookedThrough > 0 ? matchedCount / lookedThrough : 0
  const least = Math.max(matchedCount + (isOver ? 0 : 1), Math.min(1, storedCount))
  return { totalCount: Math.max(least, Math.round(share * storedCount)), isExact: false }
}
