import { type Db, run, statement, type Trx } from '../../platform/db/index.ts'
import type { Pause } from './pace.ts'
import { merged, PAGE_BLOCKS, SLICE_BYTES, SLOTS } from './signature.ts'
import { insertPage, type Slices } from './store.ts'

const MERGED_PAGES = PAGE_BLOCKS.merged / PAGE_BLOCKS.small
/** An endpoint's newest pages stay small, because they are written one by one. */
const KEPT_SMALL = MERGED_PAGES
const SLICES = (SLOTS * 4) / SLICE_BYTES
/** Slices of every page that are merged at once. */
const PART_SLICES = 64

const FIND_MERGEABLE = statement(
  'find search pages to merge',
  `select endpoint_id from search_pages
  where endpoint_id is not null and block_count = ${PAGE_BLOCKS.small}
  group by endpoint_id having count(*) >= ${MERGED_PAGES + KEPT_SMALL}
  limit 1`,
  { isPrepared: false, notNull: ['endpointId'] },
)

const LOCK_OLDEST = statement(
  'lock oldest search pages',
  `select id, above, request_count, tops from search_pages
  where endpoint_id = $1 and block_count = ${PAGE_BLOCKS.small}
  order by above limit ${MERGED_PAGES} for update`,
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
 * Merges the oldest pages of endpoints with many, so that a search reads fewer slices.
 *
 * @returns the number of pages that were made of others
 */
export async function mergePages(db: Db, signal: AbortSignal, pause: Pause): Promise<number> {
  let made = 0
  while (!signal.aborted) {
    const [found] = await run(db, FIND_MERGEABLE, [])
    if (found === undefined) break
    const isMade = await db.transaction().execute((trx) => mergeOldest(trx, found.endpointId))
    await pause()
    if (!isMade) break
    made += 1
  }
  return made
}

async function mergeOldest(trx: Trx, endpointId: string): Promise<boolean> {
  const pages = await run(trx, LOCK_OLDEST, [endpointId])
  const [oldest] = pages
  if (oldest === undefined || pages.length < MERGED_PAGES) return false
  const ids = pages.map(({ id }) => id)
  await run(trx, DETACH, [ids])
  const page = {
    endpointId,
    above: oldest.above,
    tops: pages.flatMap(({ tops }) => tops.map(Number)),
    blockCount: PAGE_BLOCKS.merged,
    requestCount: pages.reduce((sum, { requestCount }) => sum + requestCount, 0),
  }
  return await insertPage(trx, page, slicesOf(trx, ids))
}

async function* slicesOf(trx: Trx, ids: readonly number[]): AsyncGenerator<Slices, void> {
  for (let from = 0; from < SLICES; from += PART_SLICES) {
    const parts: Uint32Array[] = []
    for (const id of ids) {
      const [read] = await run(trx, READ_SLICES, [id, from, from + PART_SLICES])
      const bits = read?.bits
      if (bits?.length !== PART_SLICES * SLICE_BYTES) throw new Error(`The search page ${id} lacks slices.`)
      parts.push(new Uint32Array(Uint8Array.from(bits).buffer))
    }
    yield { firstSlice: from * MERGED_PAGES, slots: merged(parts) }
  }
}
