import type { Services } from '../../api/services.ts'
import { type Db, run, statement } from '../../platform/db/index.ts'
import { SEARCHED_BODY_BYTES } from '../search.ts'
import { mergePages } from './merge.ts'
import { type Pause, pacer } from './pace.ts'
import { emptyBitmap, mark, PAGE_BLOCKS, transposed } from './signature.ts'
import { detachEvicted, insertPage, removeDetached } from './store.ts'

/** Bounds of a block. Its last request may exceed the bytes. */
const BLOCK = { requests: 256, bytes: 512 * 1024 } as const
const PAGE_REQUESTS = BLOCK.requests * PAGE_BLOCKS.small
/** Bytes of requests that fill a page in any case. */
const PAGE_BYTES = PAGE_BLOCKS.small * (BLOCK.bytes + SEARCHED_BODY_BYTES)
/** The fewest blocks for which a page is stored. */
const BLOCKS_MIN = 24
/** An endpoint with more captures in this minute waits for a calmer one. */
const BUSY_PER_MINUTE = 6_000

/** Time limit of a run. The next one continues. */
const RUN_MS = 45_000
/** Endpoints that a run looks at for new requests, and those of them that get a page before it looks again. */
const LOOKED_AT = { endpoints: 5_000, pages: 50 } as const
/** Numbers of what a run has done. */
export interface MadePages {
  readonly made: number
  readonly merged: number
}

/**
 * Makes pages of the requests that have none, where there are enough of them. Busy endpoints and workspaces that move to
 * another cell are left out. Pages of evicted requests are deleted, and old pages are merged.
 */
export async function makeSearchPages(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  signal: AbortSignal,
): Promise<MadePages> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(RUN_MS)])
  const pause = pacer()
  await removeDetached(db, ending, pause)
  await detachEvicted(db)
  // From anywhere, so that runs that are cut short serve every endpoint.
  const from = crypto.randomUUID()
  const left = new Set<string>()
  let made = 0
  while (!ending.aborted) {
    const found = await run(db, FIND_UNPAGED, [from, clock.now()])
    const unpaged = found.filter(({ endpointId }) => !left.has(endpointId))
    if (unpaged.length === 0) break
    for (const one of unpaged) {
      if (await makePage(db, one, ending, pause)) made += 1
      else left.add(one.endpointId)
    }
  }
  return { made, merged: await mergePages(db, ending, pause) }
}

const COUNTERS = `select endpoint_id, stored_request_count, stored_bytes, oldest_request_id, window_started_at, window_count
  from endpoint_counters`

/** `$1` is where it begins, `$2` is now. */
const FIND_UNPAGED = statement(
  'find unpaged requests',
  `with looked_at as (
    (${COUNTERS} where endpoint_id > $1::uuid order by endpoint_id limit ${LOOKED_AT.endpoints})
    union all
    (${COUNTERS} where endpoint_id <= $1::uuid order by endpoint_id limit ${LOOKED_AT.endpoints})
  )
  select c.endpoint_id, n.above
  from (select * from looked_at limit ${LOOKED_AT.endpoints}) c
  join endpoints e on e.id = c.endpoint_id and e.deleted_at is null
  join workspaces w on w.id = e.workspace_id and (w.sealed_until is null or w.sealed_until < clock_timestamp())
  cross join lateral (
    select greatest(c.oldest_request_id - 1, (select max(top) from search_pages where endpoint_id = c.endpoint_id)) as above,
      greatest(${BLOCKS_MIN}, least(${PAGE_REQUESTS}, ceil(${PAGE_BYTES}::float8 * c.stored_request_count / greatest(1, c.stored_bytes))))::int as requests
  ) n
  where c.stored_request_count >= n.requests
    and (c.window_started_at is null or c.window_started_at < $2::timestamptz - interval '1 minute' or c.window_count < ${BUSY_PER_MINUTE})
    and not exists (
      select from workspace_moves m where m.workspace_id = w.id and m.state in ('copying', 'switching'))
    and exists (
      select from requests r where r.endpoint_id = c.endpoint_id and r.id > n.above
      order by r.id offset n.requests - 1 limit 1)
  limit ${LOOKED_AT.pages}`,
  { isPrepared: false },
)

/** Requests of the endpoint `$1` above the id `$2`, in whatever state, with the texts that a search reads. */
const READ_BLOCK = statement(
  'read block of requests',
  `select max(id) as top, count(*)::int as request_count,
    count(*) = ${BLOCK.requests} or coalesce(sum(bytes), 0) >= ${BLOCK.bytes} as is_full,
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
      from requests where endpoint_id = $1::uuid and id > $2::bigint
      order by id limit ${BLOCK.requests}
    ) next
  ) next
  where bytes_before < ${BLOCK.bytes}`,
  { isPrepared: false },
)

/** Ids of an endpoint are committed in order, so no request comes later below one that is read. */
async function makePage(
  db: Db,
  { endpointId, above }: { readonly endpointId: string; readonly above: number },
  signal: AbortSignal,
  pause: Pause,
): Promise<boolean> {
  const bitmaps: ReturnType<typeof emptyBitmap>[] = []
  const tops: number[] = []
  let requestCount = 0
  while (tops.length < PAGE_BLOCKS.small) {
    if (signal.aborted) return false
    const [block] = await run(db, READ_BLOCK, [endpointId, tops.at(-1) ?? above])
    if (block?.isFull !== true || block.top === null || block.searched === null) break
    const bitmap = emptyBitmap()
    mark(bitmap, block.searched)
    bitmaps.push(bitmap)
    tops.push(block.top)
    requestCount += block.requestCount
    await pause()
  }
  if (tops.length < BLOCKS_MIN) return false
  const page = { endpointId, above, tops, requestCount, blockCount: PAGE_BLOCKS.small }
  const isMade = await db
    .transaction()
    .execute((trx) => insertPage(trx, page, [{ firstSlice: 0, slots: transposed(bitmaps) }]))
  await pause()
  return isMade
}
