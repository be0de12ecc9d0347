import { type Db, run, statement, type Trx } from '../../platform/db/index.ts'
import type { Pause } from './pace.ts'
import { SLICE_BYTES } from './signature.ts'

export interface NewPage {
  readonly endpointId: string
  readonly above: number
  /** The greatest id of each block; fewer than `blockCount` if the page is not full. */
  readonly tops: readonly number[]
  readonly blockCount: number
  readonly requestCount: number
}

export interface Slices {
  readonly firstSlice: number
  readonly slots: Uint32Array
}

/** Inserts nothing while the workspace moves, or if the endpoint is deleted. */
const INSERT_PAGE = statement(
  'insert search page',
  `insert into search_pages (endpoint_id, above, top, block_count, request_count, tops)
  select e.id, $2::bigint, $3::bigint, $4::int, $5::int, $6::bigint[]
  from endpoints e join workspaces w on w.id = e.workspace_id
  where e.id = $1::uuid and e.deleted_at is null and (w.sealed_until is null or w.sealed_until < clock_timestamp())
  on conflict do nothing
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
 * Inserts a page with its slices.
 *
 * @returns false if there is a page of these requests, or should be none
 */
export async function insertPage(
  trx: Trx,
  { endpointId, above, tops, blockCount, requestCount }: NewPage,
  slices: Iterable<Slices> | AsyncIterable<Slices>,
): Promise<boolean> {
  const top = tops.at(-1)
  const padded = Array.from({ length: blockCount }, (_, block) => tops[block] ?? top)
  const [page] = await run(trx, INSERT_PAGE, [endpointId, above, top, blockCount, requestCount, padded])
  if (page === undefined) return false
  for await (const { firstSlice, slots } of slices) {
    const bits = Buffer.from(slots.buffer, slots.byteOffset, slots.byteLength)
    await run(trx, INSERT_SLICES, [page.id, firstSlice, bits])
  }
  return true
}

const DETACH_EVICTED = statement(
  'detach search pages of evicted requests',
  `update search_pages p set endpoint_id = null
  from endpoint_counters c
  where c.endpoint_id = p.endpoint_id and p.top < c.oldest_request_id`,
  { isPrepared: false },
)

/** Takes pages out of use whose requests are evicted. Requests that are restored to below them are read. */
export async function detachEvicted(db: Db): Promise<void> {
  await run(db, DETACH_EVICTED, [])
}

const DETACH_FROM = statement(
  'detach search pages from a request on',
  `update search_pages set endpoint_id = null
  where endpoint_id = $1::uuid and top >= (select min(id) from unnest($2::bigint[]) as id)`,
  { isPrepared: false },
)

/**
 * Takes pages out of use whose requests are erased, so that no signature keeps parts of their texts. Later pages of the
 * endpoint go, too, because pages are made in the order of ids.
 */
export async function forgetPaged(trx: Trx, endpointId: string, ids: readonly number[]): Promise<void> {
  await run(trx, DETACH_FROM, [endpointId, ids])
}

const FIND_DETACHED = statement(
  'find detached search pages',
  'select id from search_pages where endpoint_id is null order by id limit 1',
  { isPrepared: false },
)

const REMOVE_SLICES = statement('remove search slices', 'delete from search_slices where page_id = $1', {
  isPrepared: false,
})

const REMOVE_PAGE = statement('remove search page', 'delete from search_pages where id = $1', {
  isPrepared: false,
})

/** Deletes the pages that are no longer used, with their slices, one after the other. */
export async function removeDetached(db: Db, signal: AbortSignal, pause: Pause): Promise<void> {
  while (!signal.aborted) {
    const [page] = await run(db, FIND_DETACHED, [])
    if (page === undefined) return
    await db.transaction().execute(async (trx) => {
      await run(trx, REMOVE_SLICES, [page.id])
      await run(trx, REMOVE_PAGE, [page.id])
    })
    await pause()
  }
}
