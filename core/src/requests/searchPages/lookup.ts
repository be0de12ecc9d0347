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
  /** Whether this is the rest of what the pages cover. */
  readonly isLast: boolean
}

/** Requests of an endpoint that a search for a text must read, as far as pages cover them. */
export interface PagedSearch {
  /** Pages cover the ids above `from` up to `to`. */
  readonly from: number
  readonly to: number
  /** Takes the next part, with at most `limit` candidates. */
  readonly next: (limit: number) => PagedPart
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

/**
 * Looks up what the pages of an endpoint say about a text.
 *
 * @param range the ids to search: above `above` and below `below`, in an order
 * @returns undefined if they say nothing
 */
export async function lookUp(
  db: Db,
  endpointId: string,
  q: string,
  { above, below, order }: { readonly above: number; readonly below: number; readonly order: Order },
  options: AbortableQueryOptions,
): Promise<PagedSearch | undefined> {
  const slots = slotsOf(q)
  if (slots.length === 0) return undefined
  const found = await run(db, LOOK_UP, [endpointId, slots, below, above], options)
  const pages = withoutGaps(found)
  const [newest] = pages
  const oldest = pages.at(-1)
  if (newest === undefined || oldest === undefined) return undefined
  const passed = passedOver(order === 'asc' ? pages.toReversed() : pages, slots.length, order)
  return { from: oldest.above, to: newest.top, next: (limit) => takeFrom(passed, limit) }
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

/** The pages from the newest one down to a gap, below which requests are read as if there were no pages. */
function withoutGaps(pages: readonly Page[]): readonly Page[] {
  const gap = pages.findIndex((page, index) => index > 0 && page.top !== pages[index - 1]?.above)
  return gap === -1 ? pages : pages.slice(0, gap)
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
