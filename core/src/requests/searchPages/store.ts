import { type Db, run, statement, type Trx } from '../../platform/db/index.ts'
import { lockCounters } from '../queries.ts'
import type { Pause } from './pace.ts'
import { SLICE_BYTES } from './signature.ts'

export interface NewPage {
  readonly endpointId: string
  readonly above: number
  readonly top: number
  /** The greatest id of each block; fewer than `blockCount` if the page is not full. */
  readonly tops: readonly number[]
  readonly blockCount: number
  readonly requestCount: number
}

export interface Slices {
  readonly firstSlice: number
  readonly slots: Uint32Array
}

const INSERT_PAGE = statement(
  'insert search page',
  `insert into search_pages (above, top, block_count, request_count, tops)
  values ($1::bigint, $2::bigint, $3::int, $4::int, $5::bigint[])
  returning id`,
  { isPrepared: false },
)

const INSERT_SLICES = statement(
  'insert search slices',
  `insert into search_slices (page_id, slice, bits)
  select $1::bigint, $2::int + n, substring($3::bytea from n * ${SLICE_BYTES} + 1 for ${SLICE_BYTES})
  from generate_series(0, octet_length($3::bytea) / ${SLICE_BYTES} - 1) n`,
  { isPrepared: false },
)

/**
 * Stores a page with its slices and then takes it into use. Only the latter holds the endpoint's lock, for which captures
 * wait.
 *
 * @param isOfUse called under the lock: false if what the page says is not, or no longer, what it should say
 * @returns whether the page is in use
 */
export async function storePage(
  db: Db,
  page: NewPage,
  slices: (trx: Trx) => Iterable<Slices> | AsyncIterable<Slices>,
  isOfUse: (trx: Trx) => Promise<boolean>,
): Promise<boolean> {
  const id = await db.transaction().execute((trx) => insertPage(trx, page, slices(trx)))
  const isUsed = await db.transaction().execute(async (trx) => {
    await lockCounters(trx, page.endpointId)
    return (await isOfUse(trx)) && (await run(trx, USE_PAGE, [id, page.endpointId])).length > 0
  })
  if (!isUsed) await removePage(db, id)
  return isUsed
}

async function insertPage(
  trx: Trx,
  { above, top, tops, blockCount, requestCount }: NewPage,
  slices: Iterable<Slices> | AsyncIterable<Slices>,
): Promise<number> {
  const padded = Array.from({ length: blockCount }, (_, block) => tops[block] ?? top)
  const [page] = await run(trx, INSERT_PAGE, [above, top, blockCount, requestCount, padded])
  const id = page?.id ?? 0
  for await (const { firstSlice, slots } of slices) {
    const bits = Buffer.from(slots.buffer, slots.byteOffset, slots.byteLength)
    await run(trx, INSERT_SLICES, [id, firstSlice, bits])
  }
  return id
}

/** It changes nothing while the workspace moves, if the endpoint is deleted, and for requests that have a page. */
const USE_PAGE = statement(
  'use search page',
  `update search_pages p set endpoint_id = e.id
  from endpoints e join workspaces w on w.id = e.workspace_id
  where p.id = $1 and p.endpoint_id is null
    and e.id = $2::uuid and e.deleted_at is null and (w.sealed_until is null or w.sealed_until < clock_timestamp())
    and not exists (
      select from search_pages other where other.endpoint_id = e.id and other.above < p.top and other.top > p.above)
  returning p.id`,
  { isPrepared: false },
)

const DETACH_EVICTED = statement(
  'detach search pages of evicted requests',
  `update search_pages set endpoint_id = null
  where id in (
    select p.id from search_pages p join endpoint_counters c on c.endpoint_id = p.endpoint_id
    where p.top < c.oldest_request_id
    order by p.id for update of p skip locked
  )`,
  { isPrepared: false },
)

/** Takes pages out of use whose requests are evicted. Requests that are restored to below them are read. */
export async function detachEvicted(db: Db): Promise<void> {
  await run(db, DETACH_EVICTED, [])
}

const DETACH_WITH = statement(
  'detach search pages with requests',
  `update search_pages p set endpoint_id = null
  where endpoint_id = $1::uuid and exists (select from unnest($2::bigint[]) as id where id > p.above and id <= p.top)`,
  { isPrepared: false },
)

/** A look at the endpoint is due, to fill the gap between its pages. */
const COUNT_FORGOTTEN = statement(
  'count forgotten search texts',
  `insert into search_progress as p (endpoint_id, forgotten_count) values ($1::uuid, 1)
  on conflict (endpoint_id) do update set forgotten_count = p.forgotten_count + 1, looked_at_count = null`,
  { isPrepared: false },
)

/**
 * Takes pages out of use whose requests are erased or sealed, so that no signature keeps parts of their texts. A page that
 * is being made of what was read before is not used either. The caller holds the lock of the endpoint's counters.
 */
export async function forgetPaged(trx: Trx, endpointId: string, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await run(trx, DETACH_WITH, [endpointId, ids])
  await run(trx, COUNT_FORGOTTEN, [endpointId])
}

const FIND_DETACHED = statement(
  'find detached search pages',
  'select id from search_pages where endpoint_id is null order by id limit 1',
  { isPrepared: false },
)

const REMOVE_PAGE = statement(
  'remove search page',
  'delete from search_pages where id = $1 and endpoint_id is null returning id',
  { isPrepared: false },
)

const REMOVE_SLICES = statement('remove search slices', 'delete from search_slices where page_id = $1', {
  isPrepared: false,
})

/** Deletes the pages that are no longer used, with their slices, one after the other. */
export async function removeDetached(db: Db, signal: AbortSignal, pause: Pause): Promise<void> {
  while (!signal.aborted) {
    const [page] = await run(db, FIND_DETACHED, [])
    if (page === undefined) return
    await removePage(db, page.id)
    await pause()
  }
}

async function removePage(db: Db, id: number): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const removed = await run(trx, REMOVE_PAGE, [id])
    if (removed.length > 0) await run(trx, REMOVE_SLICES, [id])
  })
}
