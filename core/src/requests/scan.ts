import { type AbortableQueryOptions, type SqlBool, sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'
import { contentConditions, hasEventId } from './filters.ts'
import type { ListFilters } from './schema.ts'
import { cheapestShortcut, type Shortcut } from './searchShortcut.ts'

/** For so long a scan looks for more. What it has found by then is its answer. */
const SCAN_MS = 3_000

/** A step is meant to take so long: short beside the budget, long beside a round trip. */
const STEP_MS = 200
/** How many requests a step looks through. The first learns what they cost. */
const STEP_ROWS = { first: 1_000, min: 100, max: 50_000 } as const
/** A step is at most so many times the one before. */
const GROWTH = 8

/** So many requests, each up to so many bytes of its body, say how a text is found soonest in the step that they begin. */
const SAMPLE = { rows: 24, bodyBytes: 2_048 } as const

/** What a scan is to find. */
export interface Wanted {
  readonly filters: Partial<ListFilters>
  /** Of what matches, newest first, so many are passed over, and so many after them are answered. */
  readonly skip: number
  readonly take: number
  /** Goes on to the end to count all; else it ends where it has what it takes. */
  readonly countsAll: boolean
}

/** What a scan has found. */
export interface Found {
  readonly ids: readonly number[]
  /** How many of those that were looked through match. */
  readonly matchedCount: number
  readonly lookedThrough: number
  /** Everything with a greater id was looked through; null: everything was. */
  readonly lookedDownTo: number | null
}

interface Step {
  readonly looked: number
  readonly lowest: number | null
  readonly matched: number
  /** An array of int8 comes as text. */
  readonly ids: readonly string[]
}

/**
 * Looks through the visible requests of an endpoint, newest first, for those that the filters let through: step by step
 * along the primary key, so that it can end when its time is up whatever is stored.
 *
 * @param options of every query
 * @param budgetMs after so long no other step begins
 */
export async function scanRequests(
  db: Db,
  endpointId: string,
  { filters, skip, take, countsAll }: Wanted,
  options: AbortableQueryOptions,
  budgetMs = SCAN_MS,
): Promise<Found> {
  const ids: number[] = []
  const beganAt = performance.now()
  let matchedCount = 0
  let lookedThrough = 0
  let below = filters.beforeId
  let shortcut: Shortcut | undefined
  for (let rows: number = STEP_ROWS.first; ; ) {
    const stepBeganAt = performance.now()
    const passOver = Math.min(rows, Math.max(0, skip - matchedCount))
    const range = { rows, below, passOver, take: take - ids.length, shortcut }
    const step = await lookThrough(db, endpointId, filters, range, options)
    ids.push(...step.ids.map(Number))
    matchedCount += step.matched
    lookedThrough += step.looked
    if (step.lowest === null || step.looked < rows) {
      return { ids, matchedCount, lookedThrough, lookedDownTo: null }
    }
    below = step.lowest
    const now = performance.now()
    const hasAll = !countsAll && ids.length >= take
    if (hasAll || now - beganAt >= budgetMs) return { ids, matchedCount, lookedThrough, lookedDownTo: below }
    const factor = Math.min(GROWTH, STEP_MS / Math.max(1, now - stepBeganAt))
    rows = Math.max(STEP_ROWS.min, Math.min(STEP_ROWS.max, Math.round(rows * factor)))
    if (filters.q !== undefined) {
      shortcut = cheapestShortcut(filters.q, await sampleBelow(db, endpointId, below, options))
    }
  }
}

/** Some of what a search for a text reads next. */
async function sampleBelow(
  db: Db,
  endpointId: string,
  below: number,
  options: AbortableQueryOptions,
): Promise<Buffer[][]> {
  const query = sql<{ headerValues: Buffer; body: Buffer }>`
    select header_values, case when body_is_binary then '' else substring(body from 1 for ${SAMPLE.bodyBytes}) end as body
    from requests
    where endpoint_id = ${endpointId}::uuid and deleted_at is null and hidden_at is null and id < ${below}::bigint
    order by id desc limit ${SAMPLE.rows}`
  const { rows } = await db.executeQuery(query.compile(db), options)
  return rows.map(({ headerValues, body }) => [headerValues, body])
}

/** Which requests a step looks through, and which of its matches it answers. */
interface Range {
  readonly rows: number
  readonly below: number | undefined
  readonly passOver: number
  readonly take: number
  /** To the text that is searched for. */
  readonly shortcut: Shortcut | undefined
}

async function lookThrough(
  db: Db,
  endpointId: string,
  filters: Partial<ListFilters>,
  { rows, below, passOver, take, shortcut }: Range,
  options: AbortableQueryOptions,
): Promise<Step> {
  const asked = contentConditions(filters, shortcut)
  const isWanted = asked.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`(${sql.join(asked, sql` and `)})`
  const { eventId } = filters
  // Only those that have the id are walked, along their index.
  const isOfEvent = eventId === undefined ? sql<SqlBool>`true` : hasEventId(eventId)
  // The limit keeps the planner from evaluating the conditions once for each aggregate.
  const query = sql<Step>`
    select count(*)::int as looked, min(id) as lowest, count(*) filter (where is_match)::int as matched,
           coalesce((array_agg(id order by id desc) filter (where is_match))[${passOver + 1}:${passOver + take}], '{}') as ids
    from (
      select r.id, ${isWanted} as is_match
      from requests r
      where r.endpoint_id = ${endpointId}::uuid and r.deleted_at is null and r.hidden_at is null and ${isOfEvent}
        and r.id < ${below ?? Number.MAX_SAFE_INTEGER}::bigint and r.id > ${filters.afterId ?? -1}::bigint
      order by r.id desc limit ${rows}
    ) as looked_through`
  const [step] = (await db.executeQuery(query.compile(db), options)).rows
  return step ?? { looked: 0, lowest: null, matched: 0, ids: [] }
}
