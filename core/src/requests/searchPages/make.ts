import type { Services } from '../../api/services.ts'
import { type Db, Failures, run, statement, type Trx } from '../../platform/db/index.ts'
import { SEARCHED_BODY_BYTES } from '../search.ts'
import {
  BLOCK,
  BLOCKS_MIN,
  type BlockBounds,
  BUSY_PAGES,
  type Due,
  FIND_DUE,
  FIND_UNPAGED,
  pageBytesOf,
  SAVE_PROGRESS,
} from './find.ts'
import { mergePages } from './merge.ts'
import { type Pause, pacer } from './pace.ts'
import { type Bitmap, emptyBitmap, mark, PAGE_BLOCKS, transposed } from './signature.ts'
import { detachEvicted, removeDetached, storePage } from './store.ts'

/** Time limit of a run. The next one continues. */
const RUN_MS = 45_000

/** Numbers of what a run has done. */
export interface MadePages {
  readonly made: number
  readonly merged: number
}

interface Run {
  readonly db: Db
  readonly signal: AbortSignal
  readonly pause: Pause
  readonly block: BlockBounds
  readonly failures: Failures
}

/**
 * Makes pages of the requests that have none, where there are enough of them: of busy endpoints only the older ones.
 * Workspaces that move to another cell are left out. Pages of evicted requests are deleted, and older ones are merged. An
 * endpoint that fails ends no others.
 *
 * @throws what has failed, at the end
 */
export async function makeSearchPages(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  signal: AbortSignal,
  { block = BLOCK, pause = pacer() }: Partial<Pick<Run, 'block' | 'pause'>> = {},
  ms = RUN_MS,
): Promise<MadePages> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(ms)])
  const of: Run = { db, signal: ending, pause, block, failures: new Failures() }
  await removeDetached(db, ending, pause)
  await detachEvicted(db)
  // From anywhere, so that runs that are cut short serve every endpoint.
  const from = crypto.randomUUID()
  const left = new Set<string>()
  const pageRequests = block.requests * PAGE_BLOCKS.small
  let made = 0
  while (!ending.aborted) {
    const found = await run(db, FIND_DUE, [
      from,
      clock.now(),
      pageRequests,
      pageBytesOf(block),
      [...left],
      BUSY_PAGES * pageRequests,
    ])
    if (found.length === 0) break
    for (const due of found) {
      if (ending.aborted) break
      const isMade = await of.failures.unless(() => makePage(of, due))
      if (isMade === true) made += 1
      else left.add(due.endpointId)
    }
  }
  const mergedCount = await mergePages(db, block.keptPages, of)
  of.failures.throwAny()
  return { made, merged: mergedCount }
}

/** Requests of the endpoint `$1` above the id `$2` and up to `$3`, in whatever state, with the texts that a search reads. */
const READ_BLOCK = statement(
  'read block of requests',
  `select max(id) as top, count(*)::int as request_count,
    count(*) = $4::int or coalesce(sum(bytes), 0) >= $5::bigint as is_full,
    string_agg(
      convert_to(path || ' ' || coalesce(query_string, ''), 'UTF8') || '\\x00'::bytea || header_values || '\\x00'::bytea
        || convert_to(coalesce(decoded_text, ''), 'UTF8') || '\\x00'::bytea
        || case when body_is_binary then ''::bytea else coalesce(substring(body from 1 for ${SEARCHED_BODY_BYTES}), ''::bytea) end,
      '\\x00'::bytea) as searched
  from (
    select *, sum(bytes) over (order by id) - bytes as bytes_before
    from (
      select *, octet_length(path) + coalesce(octet_length(query_string), 0) + octet_length(header_values)
        + coalesce(octet_length(decoded_text), 0) + case when body_is_binary then 0 else least(${SEARCHED_BODY_BYTES}, coalesce(octet_length(body), 0)) end as bytes
      from requests where endpoint_id = $1::uuid and id > $2::bigint and id <= $3::bigint
      order by id limit $4::int
    ) next
  ) next
  where bytes_before < $5::bigint`,
  { isPrepared: false },
)

/** Texts of the endpoint `$1` that were erased or sealed, as a number that grows. */
const FORGOTTEN = statement(
  'forgotten search texts',
  'select forgotten_count from search_progress where endpoint_id = $1::uuid',
  { isPrepared: false },
)

/**
 * Makes a page of the oldest requests without one. Ids of an endpoint are committed in order, so no request comes later
 * below one that is read. Signatures of texts that are erased or sealed meanwhile are not used.
 *
 * @returns false if there is none to make now
 */
async function makePage(of: Run, due: Due): Promise<boolean> {
  const { db, pause, block } = of
  const { endpointId, enough, forgottenCount } = due
  const counted = Math.max(enough, PAGE_BLOCKS.small * block.requests + 1)
  const [unpaged] = await run(db, FIND_UNPAGED, [endpointId, counted])
  if (unpaged === undefined) return false
  const { above, upTo, requestCount } = unpaged
  const leave = async (count: number) => {
    await run(db, SAVE_PROGRESS, [endpointId, forgottenCount, due.changes, count])
    return false
  }
  if (upTo === null && requestCount < enough) return await leave(requestCount)
  const blocks = await readBlocks(of, { endpointId, above, upTo })
  if (blocks === undefined) return false
  const { bitmaps, tops } = blocks
  if (upTo === null && tops.length < BLOCKS_MIN)
    return await leave(due.requests - missingRequests(tops.length, requestCount, block))
  const hasAll = blocks.requestCount >= requestCount
  const top = hasAll ? (upTo ?? tops.at(-1)) : tops.at(-1)
  if (top === undefined) return false
  const page = {
    endpointId,
    above,
    top,
    tops: [...tops.slice(0, -1), top],
    requestCount: blocks.requestCount,
    blockCount: PAGE_BLOCKS.small,
  }
  const slices = [{ firstSlice: 0, slots: transposed(bitmaps) }]
  const isUnchanged = async (trx: Trx) => {
    const [progress] = await run(trx, FORGOTTEN, [endpointId])
    return (progress?.forgottenCount ?? 0) === forgottenCount
  }
  const isMade = await storePage(db, page, () => slices, isUnchanged)
  await pause()
  return isMade
}

interface Blocks {
  readonly bitmaps: readonly Bitmap[]
  readonly tops: readonly number[]
  readonly requestCount: number
}

/** Reads requests into at most a page of blocks. The last one may be less than full only where another page follows. */
async function readBlocks(
  { db, signal, pause, block: bounds }: Run,
  { endpointId, above, upTo }: { endpointId: string; above: number; upTo: number | null },
): Promise<Blocks | undefined> {
  const bitmaps: Bitmap[] = []
  const tops: number[] = []
  let requestCount = 0
  while (tops.length < PAGE_BLOCKS.small) {
    if (signal.aborted) return undefined
    const values = [endpointId, tops.at(-1) ?? above, upTo ?? Number.MAX_SAFE_INTEGER]
    const [block] = await run(db, READ_BLOCK, [...values, bounds.requests, bounds.bytes])
    if (block === undefined || block.top === null || block.searched === null) break
    if (block.isFull !== true && upTo === null) break
    const bitmap = emptyBitmap()
    mark(bitmap, block.searched)
    bitmaps.push(bitmap)
    tops.push(block.top)
    requestCount += block.requestCount
    await pause()
  }
  return { bitmaps, tops, requestCount }
}

/** About how many more requests fill a page, if others are like those that were read and fill so many blocks. */
function missingRequests(blockCount: number, readCount: number, { requests }: BlockBounds): number {
  const alike = readCount * (BLOCKS_MIN / Math.max(1, blockCount) - 1)
  const most = BLOCKS_MIN * requests - readCount
  return Math.max(BLOCKS_MIN, Math.min(most, Math.ceil(Math.max(alike, readCount / 4))))
}
