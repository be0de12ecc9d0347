import { type AbortableQueryOptions, type SqlBool, sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'
import { contentConditions, hasEventId } from './filters.ts'
import type { ListFilters } from './schema.ts'
import type { Candidate } from './searchPages/index.ts'
import type { Left } from './searchSample.ts'
import type { Shortcut } from './searchShortcut.ts'

/** The requests of a step, and the matches that it returns. */
export interface Range extends Left {
  /** The only blocks to read, if not all. */
  readonly candidates: readonly Candidate[] | null
  readonly rows: number
  readonly passOver: number
  readonly take: number
  readonly shortcut: Shortcut | null | undefined
}

export interface Step {
  readonly looked: number
  readonly last: number | null
  /** Up to which id the candidates are read; null without any, and if one of their pages was deleted. */
  readonly reached: number | null
  readonly matched: number
  /** The database driver returns an array of int8 as texts. */
  readonly ids: readonly string[]
}

const NOTHING: Step = { looked: 0, last: null, reached: null, matched: 0, ids: [] }

/** Looks through the requests of a step. */
export async function lookThrough(
  db: Db,
  endpointId: string,
  filters: Partial<ListFilters>,
  { rows, passOver, take, shortcut, order, below, above, candidates }: Range,
  options: AbortableQueryOptions,
): Promise<Step> {
  const asked = contentConditions(filters, shortcut ?? undefined)
  const isWanted = asked.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`(${sql.join(asked, sql` and `)})`
  const { eventId } = filters
  const isAscending = order === 'asc'
  const direction = isAscending ? sql`asc` : sql`desc`
  // Reads only requests with the event id, along their index.
  const isOfEvent = eventId === undefined ? sql<SqlBool>`true` : hasEventId(eventId)
  const inRange = sql`
    select r.id, ${isWanted} as is_match
    from requests r
    where r.endpoint_id = ${endpointId}::uuid and r.deleted_at is null and r.hidden_at is null and ${isOfEvent}
      and r.id < ${below}::bigint and r.id > ${above}::bigint`
  const blocks = sql`
    unnest(${candidates?.map(({ pageId }) => pageId)}::bigint[], ${candidates?.map(({ block }) => block)}::int[]) as c (page_id, block)
    left join search_pages p on p.id = c.page_id`
  const end = isAscending ? sql`max(p.tops[c.block + 1])` : sql`min(coalesce(p.tops[c.block], p.above)) + 1`
  const reached =
    candidates === null
      ? sql`null::bigint`
      : sql`(select case when count(p.id) = count(*) then ${end} end from ${blocks})`
  // The limit, or the offset, keeps the planner from evaluating the conditions once for each aggregate.
  const found =
    candidates === null
      ? sql`${inRange} order by r.id ${direction} limit ${rows}`
      : sql`
        select of_block.* from ${blocks}
        cross join lateral (
          ${inRange} and r.id > coalesce(p.tops[c.block], p.above) and r.id <= p.tops[c.block + 1] offset 0
        ) as of_block`
  const query = sql<Step>`
    select count(*)::int as looked, ${isAscending ? sql`max(id)` : sql`min(id)`} as last, ${reached} as reached,
           count(*) filter (where is_match)::int as matched,
           coalesce((array_agg(id order by id ${direction}) filter (where is_match))[${passOver + 1}:${passOver + take}], '{}') as ids
    from (${found}) as looked_through`
  const [step] = (await db.executeQuery(query.compile(db), options)).rows
  return step ?? NOTHING
}
