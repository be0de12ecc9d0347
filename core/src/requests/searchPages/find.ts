import { type RowsOf, statement } from '../../platform/db/index.ts'
import { SEARCHED_BODY_BYTES } from '../search.ts'
import { PAGE_BLOCKS } from './signature.ts'

/** Bounds of a block, whose last request may exceed the bytes, and the newest pages of an endpoint that are not merged. */
export interface BlockBounds {
  readonly requests: number
  readonly bytes: number
  readonly keptPages: number
}

export const BLOCK: BlockBounds = { requests: 256, bytes: 512 * 1024, keptPages: 16 }

/** The fewest blocks for which a page is stored, but between two pages. */
export const BLOCKS_MIN = 24
/** An endpoint with more captures in this minute is busy: its newest pages wait. */
const BUSY_PER_MINUTE = 6_000
/** Pages' worth of the newest requests of a busy endpoint that are left. */
export const BUSY_PAGES = 4
/** Endpoints that a run looks at from one place on, and those that get a page before it looks again. */
const LOOKED_AT = { endpoints: 5_000, found: 50 } as const

const COUNTERS = `select endpoint_id, stored_request_count, evicted_count, stored_bytes, window_started_at, window_count
  from endpoint_counters`

/**
 * Endpoints of which enough has changed since the last look that there may be a page to make. `$1` is where it begins, `$2`
 * is now, `$3` and `$4` are the requests of a page and the bytes that fill one, `$5` are left out, `$6` is what a busy one keeps.
 */
export const FIND_DUE = statement(
  'find endpoints to make search pages of',
  `with looked_at as (
    (${COUNTERS} where endpoint_id > $1::uuid order by endpoint_id limit ${LOOKED_AT.endpoints})
    union all
    (${COUNTERS} where endpoint_id <= $1::uuid order by endpoint_id limit ${LOOKED_AT.endpoints})
  )
  select c.endpoint_id, n.requests, n.enough, coalesce(p.forgotten_count, 0) as forgotten_count, n.changes
  from (select * from looked_at limit ${LOOKED_AT.endpoints}) c
  join endpoints e on e.id = c.endpoint_id and e.deleted_at is null
  join workspaces w on w.id = e.workspace_id and (w.sealed_until is null or w.sealed_until < clock_timestamp())
  left join search_progress p on p.endpoint_id = c.endpoint_id
  cross join lateral (
    select c.stored_request_count + c.evicted_count as changes,
      greatest(${BLOCKS_MIN}, least($3::int, ceil($4::float8 * c.stored_request_count / greatest(1, c.stored_bytes))))::int as requests
  ) page
  cross join lateral (
    select page.*, page.requests + case
      when c.window_started_at >= $2::timestamptz - interval '1 minute' and c.window_count >= ${BUSY_PER_MINUTE} then $6::int
      else 0 end as enough
  ) n
  where c.stored_request_count >= n.requests
    and (p.looked_at_count is null or p.left_count + abs(n.changes - p.looked_at_count) >= n.enough)
    and c.endpoint_id <> all($5::uuid[])
    and not exists (
      select from workspace_moves m where m.workspace_id = w.id and m.state in ('copying', 'switching'))
  limit ${LOOKED_AT.found}`,
  { isPrepared: false, notNull: ['enough'] },
)

export type Due = RowsOf<typeof FIND_DUE>

/** Bytes of requests that fill a page in any case. */
export const pageBytesOf = ({ bytes }: BlockBounds) => PAGE_BLOCKS.small * (bytes + SEARCHED_BODY_BYTES)

/**
 * The oldest requests of the endpoint `$1` that have no page: those above the first id, and up to the second, which is
 * null where no page follows. At most `$2` of them are counted.
 */
export const FIND_UNPAGED = statement(
  'find unpaged requests',
  `select g.above, n.above as up_to, r.request_count
  from (
    select c.oldest_request_id - 1 as above
    from endpoint_counters c
    where c.endpoint_id = $1::uuid and not exists (
      select from search_pages p
      where p.endpoint_id = c.endpoint_id and p.above < c.oldest_request_id and p.top >= c.oldest_request_id)
    union all
    select p.top
    from search_pages p join endpoint_counters c on c.endpoint_id = p.endpoint_id
    where p.endpoint_id = $1::uuid and p.top >= c.oldest_request_id
      and not exists (select from search_pages next where next.endpoint_id = p.endpoint_id and next.above = p.top)
  ) g
  cross join lateral (
    select min(p.above) as above from search_pages p where p.endpoint_id = $1::uuid and p.above > g.above
  ) n
  cross join lateral (
    select count(*)::int as request_count
    from (
      select from requests where endpoint_id = $1::uuid and id > g.above and id <= coalesce(n.above, ${Number.MAX_SAFE_INTEGER})
      order by id limit $2::int
    ) counted
  ) r
  order by g.above limit 1`,
  { isPrepared: false },
)

/** At `$3` requests stored or evicted, `$4` of the endpoint `$1` had no page. Nothing is saved if texts were erased meanwhile. */
export const SAVE_PROGRESS = statement(
  'save progress of search pages',
  `insert into search_progress as p (endpoint_id, forgotten_count, looked_at_count, left_count)
  select id, $2::bigint, $3::bigint, $4::int from endpoints where id = $1::uuid
  on conflict (endpoint_id) do update set looked_at_count = excluded.looked_at_count, left_count = excluded.left_count
  where p.forgotten_count = excluded.forgotten_count`,
  { isPrepared: false },
)
