import { type Db, type Failures, type RowsOf, run, statement, type Trx } from '../../platform/db/index.ts'
import { lockCounters } from '../queries.ts'
import type { Pause } from './pace.ts'
import { merged, PAGE_BLOCKS, SLICE_BYTES, SLOTS } from './signature.ts'
import { forgetPaged, type Slices, storePage } from './store.ts'

const MERGED_PAGES = PAGE_BLOCKS.merged / PAGE_BLOCKS.small
const SLICES = (SLOTS * 4) / SLICE_BYTES
/** Slices of every page that are merged at once. */
const PART_SLICES = 64
/** Merges that a run finds before it looks again. */
const FOUND_MAX = 50

/** Small pages that adjoin each other, by endpoint, oldest first, without `$1`, and the `$2` newest. */
const FIND_MERGEABLE = statement(
  'find search pages to merge',
  `with pages as (
    select id, endpoint_id, above, block_count,
      row_number() over (partition by endpoint_id order by above desc) as place,
      (lag(top) over of_endpoint is distinct from above or lag(block_count) over of_endpoint <> block_count)::int as is_first
    from search_pages where endpoint_id is not null
    window of_endpoint as (partition by endpoint_id order by above)
  ), rows_of_pages as (
    select *, sum(is_first) over (partition by endpoint_id order by above) as row_of_pages from pages
  ), numbered as (
    select *, (row_number() over (partition by endpoint_id, row_of_pages order by above) - 1) / ${MERGED_PAGES} as part
    from rows_of_pages where block_count = ${PAGE_BLOCKS.small} and place > $2::int
  )
  select endpoint_id, array_agg(id order by above)::text[] as ids
  from numbered
  where endpoint_id <> all($1::uuid[])
  group by endpoint_id, row_of_pages, part having count(*) = ${MERGED_PAGES}
  limit ${FOUND_MAX}`,
  { isPrepared: false, notNull: ['endpointId'] },
)

const READ_PAGES = statement(
  'read search pages to merge',
  `select id, above, top, request_count, tops,
    (select count(*) from search_slices s where s.page_id = p.id) = ${SLICES} as is_whole
  from search_pages p
  where id = any($1::bigint[]) and endpoint_id = $2::uuid order by above`,
  { isPrepared: false },
)

const LOCK_PAGES = statement(
  'lock merged search pages',
  'select id from search_pages where id = any($1::bigint[]) and endpoint_id = $2::uuid order by id for update',
  { isPrepared: false },
)

const DETACH = statement(
  'detach search pages',
  'update search_pages set endpoint_id = null where id = any($1::bigint[])',
  { isPrepared: false },
)

const READ_SLICES = statement(
  'read search slices',
  `select string_agg(bits, ''::bytea order by slice) as bits
  from search_slices where page_id = $1 and slice >= $2 and slice < $3`,
  { isPrepared: false },
)

/**
 * Merges the older pages of endpoints with many, so that a search reads fewer slices. A merge that fails ends no others.
 *
 * @returns the number of pages that were made of others
 */
export async function mergePages(
  db: Db,
  keptPages: number,
  { signal, pause, failures }: { signal: AbortSignal; pause: Pause; failures: Failures },
): Promise<number> {
  const left = new Set<string>()
  let made = 0
  while (!signal.aborted) {
    const found = await run(db, FIND_MERGEABLE, [[...left], keptPages])
    if (found.length === 0) break
    for (const { endpointId, ids } of found) {
      if (signal.aborted) break
      const isMerged = await failures.unless(() => mergeOf(db, endpointId, ids.map(Number)))
      if (isMerged === true) made += 1
      else left.add(endpointId)
      await pause()
    }
  }
  return made
}

type Page = RowsOf<typeof READ_PAGES>

async function mergeOf(db: Db, endpointId: string, ids: readonly number[]): Promise<boolean> {
  const pages = await run(db, READ_PAGES, [ids, endpointId])
  const [oldest, newest] = [pages[0], pages.at(-1)]
  if (oldest === undefined || newest === undefined || pages.length < ids.length) return false
  const broken = pages.filter(({ isWhole }) => !isWhole)
  if (broken.length > 0) {
    // Others are made in their place.
    await db.transaction().execute(async (trx) => {
      await lockCounters(trx, endpointId)
      await forgetPaged(
        trx,
        endpointId,
        broken.map(({ top }) => top),
      )
    })
    return false
  }
  const page = {
    endpointId,
    above: oldest.above,
    top: newest.top,
    tops: pages.flatMap(({ tops }) => tops.map(Number)),
    blockCount: PAGE_BLOCKS.merged,
    requestCount: pages.reduce((sum, { requestCount }) => sum + requestCount, 0),
  }
  // An erasure takes one of the pages out of use meanwhile.
  return await storePage(
    db,
    page,
    (trx) => slicesOf(trx, pages),
    (trx) => detachAll(trx, endpointId, ids),
  )
}

/** Takes pages out of use, if all of them are in use. */
async function detachAll(trx: Trx, endpointId: string, ids: readonly number[]): Promise<boolean> {
  const locked = await run(trx, LOCK_PAGES, [ids, endpointId])
  if (locked.length < ids.length) return false
  await run(trx, DETACH, [ids])
  return true
}

async function* slicesOf(trx: Trx, pages: readonly Page[]): AsyncGenerator<Slices, void> {
  for (let from = 0; from < SLICES; from += PART_SLICES) {
    const parts: Uint32Array[] = []
    for (const { id } of pages) {
      const [read] = await run(trx, READ_SLICES, [id, from, from + PART_SLICES])
      const bits = read?.bits
      if (bits?.length !== PART_SLICES * SLICE_BYTES) throw new Error(`The search page ${id} lacks slices.`)
      parts.push(new Uint32Array(new Uint8Array(bits).buffer))
    }
    yield { firstSlice: from * MERGED_PAGES, slots: merged(parts) }
  }
}
