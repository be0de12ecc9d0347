import { type AbortableQueryOptions, type SqlBool, sql } from 'kysely'
import { type Db, run, statement } from '../platform/db/index.ts'
import { contentConditions, hasEventId } from './filters.ts'
import type { ListFilters, Order } from './schema.ts'
import { SEARCHED_BODY_BYTES } from './search.ts'
import { type Candidate, lookUp, type PagedSearch } from './searchPages/index.ts'
import { cheapestShortcut, type Shortcut } from './searchShortcut.ts'

export interface Pace {
  /** Time limit in milliseconds. The first step completes however long it takes. */
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
const STEP_ROWS = { min: 8, max: 50_000 } as const
/** The most that a step grows over the one before. */
const GROWTH = 8
/** The most requests of a block that a search page lets a scan read. */
const BLOCK_ROWS = 256

/** Sample of a step from which its shortcut is chosen: first requests, and bytes of each body. */
const SAMPLE = { rows: 24, bodyBytes: 2_048 } as const

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
  readonly learned?: Learned | undefined
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
  readonly rows: number
  /** Undefined before one was sought; null if there is none. */
  readonly shortcut: Shortcut | null | undefined
  /** The candidates that are left. */
  readonly paged: PagedSearch | undefined
}

interface Step {
  readonly looked: number
  readonly last: number | null
  /** End of the candidates, as {@link Found.lookedTo}; null without any, and if one of their pages was deleted. */
  readonly reached: number | null
  readonly matched: number
  /** The database driver returns an array of int8 as texts. */
  readonly ids: readonly string[]
}

/**
 * Searches the visible requests of an endpoint, newest first by default, for those that match the filters. It steps along the
 * primary key, so that it can end at its time limit whatever is stored. From its second step on, a search for a text
 * reads only what search pages do not exclude.
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
  let { shortcut, paged } = learned ?? { shortcut: undefined, paged: undefined }
  // An event id has an index of its own.
  let isLookedUp = paged !== undefined || filters.eventId !== undefined
  // Requests may be much longer than those of the step before. A step that exceeds the time limit is cancelled.
  const deadline = AbortSignal.timeout(budgetMs)
  const signals = options.signal === undefined ? [deadline] : [options.signal, deadline]
  const inTime = { ...options, signal: AbortSignal.any(signals) }
  const holding = { rows: firstRows, bytes: firstBytes ?? 0 }
  let rows =
    learned?.rows ??
    (firstBytes === null ? firstRows : await rowsHolding(db, endpointId, left, holding, options))
  const upTo = (lookedTo: number | null, rest?: PagedSearch): Found => {
    return { ids, matchedCount, lookedThrough, skipped, lookedTo, learned: { rows, shortcut, paged: rest } }
  }
  for (let isFirst = true; ; isFirst = false) {
    const stepBeganAt = performance.now()
    const passOver = Math.min(Math.max(rows, BLOCK_ROWS), Math.max(0, skip - matchedCount))
    const part = nextPart(paged, left, rows)
    const range = { ...part, rows, passOver, take: take - ids.length, shortcut }
    const looking = lookThrough(db, endpointId, filters, range, isFirst ? options : inTime)
    const step = await (isFirst ? looking : unlessLate(looking, deadline, options.signal))
    if (step === undefined) return upTo(endOf(left))
    if (part.candidates !== null && part.candidates.length > 0 && step.reached === null) {
      paged = undefined
      continue
    }
    ids.push(...step.ids.map(Number))
    matchedCount += step.matched
    lookedThrough += step.looked
    skipped += part.skipped
    const isThrough = part.candidates === null ? step.looked < rows : part.isRest
    if (isThrough && part.isLast) return upTo(null)
    left = beyond(left, isThrough ? endAfter(part) : (step.reached ?? step.last ?? endOf(left)))
    const now = performance.now()
    const hasAll = !countsAll && ids.length >= take
    const factor = Math.min(GROWTH, stepMs / Math.max(1, now - stepBeganAt))
    rows = Math.max(STEP_ROWS.min, Math.min(STEP_ROWS.max, Math.round(rows * factor)))
    if (hasAll || now - beganAt + stepMs > budgetMs) return upTo(endOf(left), paged)
    if (q !== undefined && shortcut === undefined)
      shortcut = cheapestShortcut(q, await sampleNext(db, endpointId, left, options)) ?? null
    if (q !== undefined && !isLookedUp) {
      paged = await lookUp(db, endpointId, q, left, options)
      isLookedUp = true
    }
  }
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

/** The requests that a scan has not looked through. */
interface Left {
  readonly order: Order
  readonly below: number
  readonly above: number
}

/** The id up to which a scan has looked. */
const endOf = ({ order, below, above }: Left) => (order === 'asc' ? above : below)

/** The id up to which a scan has looked when it is through with a part. */
const endAfter = ({ order, below, above }: Left) => (order === 'asc' ? below - 1 : above + 1)

/** The rest of the requests, once a scan has looked up to an id. */
const beyond = (left: Left, id: number): Left =>
  left.order === 'asc' ? { ...left, above: id } : { ...left, below: id }

/** The requests that a step may read. */
interface Part extends Left {
  /** The only blocks to read, if not all. */
  readonly candidates: readonly Candidate[] | null
  /** About how many requests are skipped. */
  readonly skipped: number
  /** Whether the candidates are the last ones of the part. */
  readonly isRest: boolean
  /** Whether nothing is left after the part. */
  readonly isLast: boolean
}

/** Requests beyond all pages are a part on either side. Between them, a part has the next candidates. */
function nextPart(paged: PagedSearch | undefined, left: Left, rows: number): Part {
  const { order, below, above } = left
  const all = { ...left, candidates: null, skipped: 0, isRest: false, isLast: true }
  if (paged === undefined) return all
  const { from, to } = paged
  if (order === 'asc') {
    if (above >= to) return all
    if (above < from) return { ...all, below: Math.min(below, from + 1), isLast: below <= from + 1 }
  } else {
    if (below <= from + 1) return all
    if (below > to + 1) return { ...all, above: Math.max(above, to), isLast: above >= to }
  }
  const { candidates, skipped, isLast: isRest } = paged.next(Math.max(1, Math.floor(rows / BLOCK_ROWS)))
  const part = { candidates, skipped, isRest }
  return order === 'asc'
    ? { ...left, ...part, below: Math.min(below, to + 1), isLast: below <= to + 1 }
    : { ...left, ...part, above: Math.max(above, from), isLast: above >= from }
}

/** SQL of the next visible requests of the endpoint `$1`, with ids below `$2` and above `$3`. */
const next = (order: Order) => `
  from requests
  where endpoint_id = $1::uuid and deleted_at is null and hidden_at is null and id < $2::bigint and id > $3::bigint
  order by id ${order}`

/** Reads no bodies. `$4` is a number of rows, `$5` the bytes. */
const countLonger = (order: Order) => `
  select count(*) filter (where octets_so_far > $5)::int as longer, count(*)::int as all
  from (
    select sum(least(octet_length(body), ${SEARCHED_BODY_BYTES})) over (order by id ${order}) as octets_so_far
    ${next(order)} limit $4
  ) as nearest`

const COUNT_LONGER = {
  asc: statement('count older requests beyond bytes', countLonger('asc'), { isPrepared: false }),
  desc: statement('count requests beyond bytes', countLonger('desc'), { isPrepared: false }),
}

/** Number of requests whose searched text fits into `bytes`, at most `rows` and at least a few. It reads no bodies. */
async function rowsHolding(
  db: Db,
  endpointId: string,
  left: Left,
  { rows, bytes }: { rows: number; bytes: number },
  options: AbortableQueryOptions,
): Promise<number> {
  const values = [endpointId, left.below, left.above, rows, bytes]
  const [counted] = await run(db, COUNT_LONGER[left.order], values, options)
  if (counted === undefined || counted.longer === 0) return rows
  return Math.max(STEP_ROWS.min, counted.all - counted.longer)
}

const sample = (order: Order) => `
  select header_values, case when body_is_binary then '' else substring(body from 1 for ${SAMPLE.bodyBytes}) end as body
  ${next(order)} limit ${SAMPLE.rows}`

const SAMPLE_NEXT = {
  asc: statement('sample of older searched requests', sample('asc'), { isPrepared: false }),
  desc: statement('sample of searched requests', sample('desc'), { isPrepared: false }),
}

async function sampleNext(
  db: Db,
  endpointId: string,
  left: Left,
  options: AbortableQueryOptions,
): Promise<Buffer[][]> {
  const rows = await run(db, SAMPLE_NEXT[left.order], [endpointId, left.below, left.above], options)
  return rows.map(({ headerValues, body }) => [headerValues, body])
}

/** The requests of a step, and the matches that it returns. */
interface Range extends Part {
  readonly rows: number
  readonly passOver: number
  readonly take: number
  readonly shortcut: Shortcut | null | undefined
}

const NOTHING: Step = { looked: 0, last: null, reached: null, matched: 0, ids: [] }

async function lookThrough(
  db: Db,
  endpointId: string,
  filters: Partial<ListFilters>,
  { rows, passOver, take, shortcut, order, below, above, candidates }: Range,
  options: AbortableQueryOptions,
): Promise<Step> {
  if (candidates?.length === 0) return NOTHING
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
