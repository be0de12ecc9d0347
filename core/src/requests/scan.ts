import { type AbortableQueryOptions, type SqlBool, sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'
import { contentConditions, hasEventId } from './filters.ts'
import type { ListFilters, Order } from './schema.ts'
import { type Candidate, lookUp, type Stretch } from './searchPages/index.ts'
import { type Left, ROWS_MIN, rowsHolding, sampleNext } from './searchSample.ts'
import { cheapestShortcut, type Shortcut } from './searchShortcut.ts'

export interface Pace {
  /** Time limit in milliseconds. A first step of a size that was measured for it completes however long it takes. */
  readonly budgetMs: number
  /** Target time of a step in milliseconds: short compared to the budget, long compared to a round trip. */
  readonly stepMs: number
  /** Requests in the first step, which measures their cost. */
  readonly firstRows: number
  /** Limit for the octets of text in the first step, which then has fewer requests; null for none. */
  readonly firstBytes: number | null
}

/** Pace to find everything. */
export const THOROUGH: Pace = { budgetMs: 3_000, stepMs: 200, firstRows: 1_000, firstBytes: null }
/** Pace to answer a text search within 300 ms, the read of its page included. */
export const PROMPT: Pace = { budgetMs: 240, stepMs: 40, firstRows: 1_000, firstBytes: 2_000_000 }

/** Bounds for the requests of a later step. */
const STEP_ROWS = { min: ROWS_MIN, max: 50_000 } as const
/** The most that a step grows over the one before. */
const GROWTH = 8
/** The most requests of a block that a search page lets a scan read. */
const BLOCK_ROWS = 256

export interface Wanted {
  readonly filters: Partial<ListFilters>
  /** Newest first (`desc`, the default) or oldest first. */
  readonly order?: Order
  /** Number of matches to pass over, in the order, before the `take` matches of the answer. */
  readonly skip: number
  readonly take: number
  /** Whether it continues to the end to count all matches; else it ends once it has `take` of them. */
  readonly countsAll: boolean
  /** Facts of the scan that this one continues. Only a bound of its ids has changed. */
  readonly learned?: Partial<Learned> | undefined
}

export interface Found {
  readonly ids: readonly number[]
  /** Number of matches among the requests that were looked through. */
  readonly matchedCount: number
  /** Number of requests that were read. */
  readonly lookedThrough: number
  /** About how many requests were skipped, because pages tell that they do not match. */
  readonly skipped: number
  /** All requests up to this id in the order were looked through; null if all were. */
  readonly lookedTo: number | null
  readonly learned: Learned
}

/** Facts for a scan that continues this one. */
export interface Learned {
  /** Requests of the next step; undefined if that many took longer than the time limit, so that they are measured again. */
  readonly rows: number | undefined
  /** Undefined before one was sought; null if there is none. */
  readonly shortcut: Shortcut | null | undefined
  /** The rest of the search; undefined if pages are to be looked up. */
  readonly stretches: readonly Stretch[] | undefined
}

/**
 * Searches the visible requests of an endpoint, newest first by default, for those that match the filters. It steps along the
 * primary key, so that it can end at its time limit whatever is stored. A search for a text reads only what search pages do
 * not exclude; one that ends with a full page looks them up after its first step.
 *
 * @param options options of every query
 */
export async function scanRequests(
  db: Db,
  endpointId: string,
  { filters, order = 'desc', skip, take, countsAll, learned }: Wanted,
  options: AbortableQueryOptions,
  { budgetMs, stepMs, firstRows, firstBytes }: Pace = THOROUGH,
): Promise<Found> {
  const { q } = filters
  const ids: number[] = []
  const beganAt = performance.now()
  let matchedCount = 0
  let lookedThrough = 0
  let skipped = 0
  let left: Left = {
    order,
    below: filters.beforeId ?? Number.MAX_SAFE_INTEGER,
    above: filters.afterId ?? -1,
  }
  let { shortcut, stretches } = learned ?? {}
  if (q !== undefined && shortcut === undefined)
    shortcut = cheapestShortcut(q, await sampleNext(db, endpointId, left, options)) ?? null
  const holding = { rows: firstRows, bytes: firstBytes ?? 0 }
  let rows =
    learned?.rows ??
    (firstBytes === null ? firstRows : await rowsHolding(db, endpointId, left, holding, options))
  // Requests may be much longer than those of the step before. A step that exceeds the time limit is cancelled.
  const deadline = AbortSignal.timeout(budgetMs)
  const signals = options.signal === undefined ? [deadline] : [options.signal, deadline]
  const inTime = { ...options, signal: AbortSignal.any(signals) }
  const upTo = (lookedTo: number | null, rest?: readonly Stretch[]): Found => {
    const now = { rows, shortcut, stretches: rest }
    return { ids, matchedCount, lookedThrough, skipped, lookedTo, learned: now }
  }
  // An event id has an index of its own.
  let isLookedUp = stretches !== undefined || q === undefined || filters.eventId !== undefined
  let [stretch, ...others]: readonly Stretch[] = stretches ?? [{ ...left, next: null }]
  let isFirst = true
  // A scan that continues another one may meet requests that are much longer, too.
  const isMeasured = learned?.rows === undefined
  while (stretch !== undefined) {
    if (!isLookedUp && (countsAll || !isFirst)) {
      ;[stretch, ...others] = await lookUp(db, endpointId, q ?? '', left, options)
      isLookedUp = true
      continue
    }
    const part = stretch.next?.(Math.max(1, Math.floor(rows / BLOCK_ROWS)))
    let isThrough = part?.isLast === true
    let reached: number | null = null
    const stepBeganAt = performance.now()
    if (part === undefined || part.candidates.length > 0) {
      const passOver = Math.min(Math.max(rows, BLOCK_ROWS), Math.max(0, skip - matchedCount))
      const wanted = { rows, passOver, take: take - ids.length, shortcut }
      const { above, below } = stretch
      const isUnlimited = isFirst && isMeasured
      const range = { order, above, below, candidates: part?.candidates ?? null, ...wanted }
      const looking = lookThrough(db, endpointId, filters, range, isUnlimited ? options : inTime)
      const step = await (isUnlimited ? looking : unlessLate(looking, deadline, options.signal))
      if (step === undefined) {
        const found = upTo(endOf(left))
        return { ...found, learned: { ...found.learned, rows: undefined } }
      }
      if (part !== undefined && step.reached === null) {
        // A page was deleted meanwhile.
        ;[stretch, ...others] = [{ ...left, next: null }]
        continue
      }
      isFirst = false
      ids.push(...step.ids.map(Number))
      matchedCount += step.matched
      lookedThrough += step.looked
      isThrough ||= part === undefined && step.looked < rows
      reached = step.reached ?? step.last
    }
    skipped += part?.skipped ?? 0
    left = beyond(left, isThrough ? endAfter({ order, ...stretch }) : (reached ?? endOf(left)))
    if (isThrough) [stretch, ...others] = others
    else stretch = { ...stretch, ...(order === 'asc' ? { above: left.above } : { below: left.below }) }
    if (stretch === undefined) break
    if (reached === null) continue
    const now = performance.now()
    const factor = Math.min(GROWTH, stepMs / Math.max(1, now - stepBeganAt))
    rows = Math.max(STEP_ROWS.min, Math.min(STEP_ROWS.max, Math.round(rows * factor)))
    const hasAll = !countsAll && ids.length >= take
    if (hasAll || now - beganAt + stepMs > budgetMs) return upTo(endOf(left), [stretch, ...others])
  }
  return upTo(null)
}

/**
 * The result of a step; undefined if it was cancelled at the deadline.
 *
 * @throws other errors of the step
 */
async function unlessLate(
  looking: Promise<Step>,
  deadline: AbortSignal,
  signal: AbortSignal | undefined,
): Promise<Step | undefined> {
  const step = await looking.catch((error: unknown) => {
    if (!deadline.aborted || signal?.aborted === true) throw error
    return undefined
  })
  // A cancelled query may also end without rows.
  return deadline.aborted ? undefined : step
}

/** The id up to which a scan has looked. */
const endOf = ({ order, below, above }: Left) => (order === 'asc' ? above : below)

/** The id up to which a scan has looked when it is through with a stretch. */
const endAfter = ({ order, below, above }: Left) => (order === 'asc' ? below - 1 : above + 1)

/** The rest of the requests, once a scan has looked up to an id. */
const beyond = (left: Left, id: number): Left =>
  left.order === 'asc' ? { ...left, above: id } : { ...left, below: id }

/** The requests of a step, and the matches that it returns. */
interface Range extends Left {
  /** The only blocks to read, if not all. */
  readonly candidates: readonly Candidate[] | null
  readonly rows: number
  readonly passOver: number
  readonly take: number
  readonly shortcut: Shortcut | null | undefined
}

interface Step {
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
async function lookThrough(
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
