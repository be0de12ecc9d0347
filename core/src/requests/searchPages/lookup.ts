import type { AbortableQueryOptions } from 'kysely'
import { type Db, type RowsOf, run, statement } from '../../platform/db/index.ts'
import type { Order } from '../schema.ts'
import { blocksWithAll, SLICE_BYTES, slotsOf } from './signature.ts'

/** A block of requests that may have a text: its page, and its number in the page. */
export interface Candidate {
  readonly pageId: number
  readonly block: number
}

export interface PagedPart {
  /** The blocks to read, in the order. */
  readonly candidates: readonly Candidate[]
  /** About how many requests of other blocks are skipped. */
  readonly skipped: number
  /** Whether this is the rest of the stretch. */
  readonly isLast: boolean
}

/** A range of ids to search. */
export interface Stretch {
  readonly above: number
  readonly below: number
  /** Takes the next part, with at most `limit` candidates; null where no pages say what to skip. */
  readonly next: ((limit: number) => PagedPart) | null
}

const SLICE_BITS = SLICE_BYTES * 8

/**
 * `$1` is the endpoint, `$2` the slots. `words` holds one or sixteen words of 32 bits for each slot. Ids below `$3` and above `$4` are in
 * the blocks from `first` up to before `end`.
 */
const LOOK_UP = statement(
  'look up search pages',
  `select p.id, p.above, p.top, p.block_count, p.request_count, s.words,
    case when p.above >= $4::bigint then 0
      else (select count(*)::int from unnest(p.tops) as top where top <= $4::bigint) end as first,
    case when p.top < $3::bigint then p.block_count
      else least(p.block_count, 1 + (select count(*)::int from unnest(p.tops) as top where top < $3::bigint - 1)) end as end
  from search_pages p
  cross join lateral (
    select string_agg(substring(
      s.bits from slot % (${SLICE_BITS} / p.block_count) * (p.block_count / 8) + 1 for p.block_count / 8
    ), ''::bytea) as words
    from unnest($2::int[]) as slot
    join search_slices s on s.page_id = p.id and s.slice = slot / (${SLICE_BITS} / p.block_count)
  ) s
  where p.endpoint_id = $1::uuid and p.above < $3::bigint and p.top > $4::bigint
  order by p.top desc`,
  { isPrepared: false },
)

type Page = RowsOf<typeof LOOK_UP>

interface Searched {
  readonly above: number
  readonly below: number
  readonly order: Order
}

/**
 * Looks up what the pages of an endpoint say about a text.
 *
 * @param range the ids to search: above `above` and below `below`, in an order
 * @returns stretches of the range, in its order, which are all of it
 */
export async function lookUp(
  db: Db,
  endpointId: string,
  q: string,
  { above, below, order }: Searched,
  options: AbortableQueryOptions,
): Promise<readonly Stretch[]> {
  const slots = slotsOf(q)
  const pages = slots.length === 0 ? [] : await run(db, LOOK_UP, [endpointId, slots, below, above], options)
  const stretches: Stretch[] = []
  let end = below
  for (const row of adjoining(pages)) {
    const [top, bottom] = [row[0]?.top ?? above, row.at(-1)?.above ?? above]
    if (end > top + 1) stretches.push({ above: top, below: end, next: null })
    const passed = passedOver(order === 'asc' ? row.toReversed() : row, slots.length, order)
    const from = Math.max(above, bottom)
    stretches.push({ above: from, below: Math.min(end, top + 1), next: (limit) => takeFrom(passed, limit) })
    end = from + 1
  }
  if (end > above + 1) stretches.push({ above, below: end, next: null })
  return order === 'asc' ? stretches.reverse() : stretches
}

function takeFrom(passed: Iterator<Passed>, limit: number): PagedPart {
  const candidates: Candidate[] = []
  let skipped = 0
  while (candidates.length < limit) {
    const { done, value } = passed.next()
    if (done === true) return { candidates, skipped: Math.round(skipped), isLast: true }
    skipped += value.skipped
    if (value.candidate !== undefined) candidates.push(value.candidate)
  }
  return { candidates, skipped: Math.round(skipped), isLast: false }
}

/** Rows of pages without gaps, in the order of the pages, which is newest first. */
function adjoining(pages: readonly Page[]): Page[][] {
  const rows: Page[][] = []
  let last: Page | undefined
  for (const page of pages) {
    if (last !== undefined && page.top === last.above) rows.at(-1)?.push(page)
    else rows.push([page])
    last = page
  }
  return rows
}

/** Requests that are skipped, and the candidate after them; none at the end of a page. */
interface Passed {
  readonly skipped: number
  readonly candidate?: Candidate
}

function* passedOver(pages: readonly Page[], slotCount: number, order: Order): Generator<Passed, undefined> {
  for (const { id, blockCount, first, end, requestCount, words } of pages) {
    const perBlock = requestCount / blockCount
    // A page without all of its slices skips nothing.
    const isWhole = words?.length === (slotCount * blockCount) / 8
    const down = isWhole ? blocksWithAll(words, blockCount) : numbersDown(blockCount)
    const marked = down.filter((block) => block >= first && block < end)
    let passed = 0
    for (const block of order === 'asc' ? marked.toReversed() : marked) {
      const place = order === 'asc' ? block - first : end - 1 - block
      yield { skipped: (place - passed) * perBlock, candidate: { pageId: id, block } }
      passed = place + 1
    }
    yield { skipped: (end - first - passed) * perBlock }
  }
  return undefined
}

const numbersDown = (count: number) => Array.from({ length: count }, (_, index) => count - 1 - index)
