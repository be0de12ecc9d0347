import { sql } from 'kysely'
import { ALWAYS, holdsInSteps, requestRoot } from '../engine/conditions/index.ts'
import { PARSED_BODY_BYTES_MAX } from '../engine/message/index.ts'
import { type Db, run, statement } from '../platform/db/index.ts'
import { countPiece } from '../platform/memory/index.ts'
import { sealedMembers } from '../platform/secrets/index.ts'
import { inSlices } from '../platform/turns/index.ts'
import { newestRequestId, STORED_REQUEST_COLUMNS, storedRequest, visibleRequests } from '../requests/index.ts'
import type { EventFilter, FieldPath } from './filter.ts'
import { occurrenceOf } from './occurrence.ts'
import type { Occurrence } from './schema.ts'

/** A reader that is further behind skips what lies before. */
export const BEHIND_MAX = 10_000
/** Requests of one window, whose ids Postgres narrows by label and verdict. */
export const WINDOW_ROWS = 2_000
/** Windows of one page: a page without an event ends there. */
export const WINDOWS_MAX = 5
/** Bytes of bodies that are read at once, unless one request alone has more. */
const CHUNK_BYTES = 4 * 1024 * 1024
const COPIES = 4

/** Range and filter of a look for events. */
export interface EventSearch {
  readonly endpointId: string
  readonly name: string
  readonly filter: EventFilter
  readonly fields: readonly FieldPath[]
  readonly afterId: number
  readonly maxEvents: number
  /** Older requests are skipped. */
  readonly notBefore: Date | null
  readonly signal?: AbortSignal
}

/** Events in the order of their ids. */
export interface EventPage {
  readonly events: readonly Occurrence[]
  /** Every request up to this one was looked at. */
  readonly lastId: number
  readonly hasMore: boolean
  readonly isTruncated: boolean
}

/** The largest id of a request of an endpoint that a limit or the retention removed. */
export const REMOVED_UP_TO = statement(
  'events removed up to',
  'select removed_up_to from endpoint_counters where endpoint_id = $1::uuid',
)

/** The newest request of an endpoint that lies too far behind, after a position. */
export const SKIPPED_UP_TO = statement(
  'events too far behind',
  `select id from requests where endpoint_id = $1::uuid and id > $2::bigint order by id desc offset ${BEHIND_MAX} limit 1`,
)

const WINDOW_END = statement(
  'window of events',
  `select max(id) as id, count(*)::int as count from (
    select id from requests where endpoint_id = $1::uuid and id > $2::bigint and id <= $3::bigint
    order by id limit ${WINDOW_ROWS}
  ) w`,
)

const TOO_OLD = statement(
  'events too old',
  `select max(id) as id from (
    select id, received_at from requests where endpoint_id = $1::uuid and id > $2::bigint order by id limit ${BEHIND_MAX}
  ) w where received_at < $3::timestamptz`,
)

/**
 * Events after a position. Ids are given out in the order of commits, so nothing appears later below an id that was
 * seen. The page is truncated if something after the position was removed, or is skipped because it is too old or more
 * than {@link BEHIND_MAX} requests behind.
 */
export async function pageOfEvents(db: Db, search: EventSearch): Promise<EventPage> {
  const { endpointId, filter, maxEvents, signal } = search
  const newestId = await newestRequestId(db, endpointId)
  const [counters] = await run(db, REMOVED_UP_TO, [endpointId])
  let isTruncated = search.afterId < (counters?.removedUpTo ?? 0)
  let after = search.afterId
  const skip = (id: number | null | undefined) => {
    if (id === undefined || id === null || id <= after) return
    after = id
    isTruncated = true
  }
  const [behind] = await run(db, SKIPPED_UP_TO, [endpointId, after])
  skip(behind?.id)
  if (search.notBefore !== null) {
    const [old] = await run(db, TOO_OLD, [endpointId, after, search.notBefore])
    skip(old?.id)
  }
  const readsBody = filter.condition !== ALWAYS || search.fields.length > 0
  const events: Occurrence[] = []
  for (
    let windows = 0;
    windows < WINDOWS_MAX && after < newestId && events.length < maxEvents;
    windows += 1
  ) {
    signal?.throwIfAborted()
    const [window] = await run(db, WINDOW_END, [endpointId, after, newestId])
    const end = window?.count === WINDOW_ROWS ? (window.id ?? newestId) : newestId
    const sizes = await candidates(db, endpointId, filter, after, end)
    while (sizes.length > 0 && events.length < maxEvents) {
      const ids = takeChunk(sizes).map(({ id }) => id)
      for (const row of await readRows(db, endpointId, ids, { readsBody })) {
        after = row.id
        const holds =
          filter.condition === ALWAYS ||
          (await inSlices(holdsInSteps(filter.condition, requestRoot(storedRequest(row)))))
        if (holds) events.push(occurrenceOf(search.name, row, search.fields))
        if (events.length === maxEvents) break
      }
      if (events.length < maxEvents) after = Math.max(after, ids.at(-1) ?? after)
    }
    if (sizes.length === 0 && events.length < maxEvents) after = end
  }
  return { events, lastId: after, hasMore: after < newestId, isTruncated }
}

/** A request and the length of its body. */
export interface Sized {
  readonly id: number
  readonly bytes: number
}

/** Requests of a window that have the wanted label and verdict. Imported ones did not happen here. */
async function candidates(
  db: Db,
  endpointId: string,
  { labels, verification }: EventFilter,
  afterId: number,
  endId: number,
): Promise<Sized[]> {
  let query = visibleRequests(db, endpointId)
    .where('r.id', '>', afterId)
    .where('r.id', '<=', endId)
    .where('r.imported', '=', false)
  if (labels !== null) query = query.where('r.label', 'in', [...labels])
  if (verification === 'none') query = query.where('r.verdict', 'is', null)
  else if (verification !== undefined) query = query.where('r.verdict', '=', verification)
  return await query
    .select(['r.id', sql<number>`octet_length(r.body)`.as('bytes')])
    .orderBy('r.id')
    .execute()
}

/** Takes the first ids whose bodies together are short enough; one at least. */
export function takeChunk<Item extends Sized>(sizes: Item[]): Item[] {
  let bytes = 0
  let count = 0
  for (const size of sizes) {
    bytes += size.bytes > PARSED_BODY_BYTES_MAX ? 0 : size.bytes
    if (count > 0 && (bytes > CHUNK_BYTES || count === 100)) break
    count += 1
  }
  return sizes.splice(0, count)
}

/** The requests in the order of their ids. Bodies that are too long to be parsed, or are not asked for, are empty. */
export async function readRows(
  db: Db,
  endpointId: string,
  ids: readonly number[],
  { readsBody }: { readonly readsBody: boolean },
) {
  const columns = STORED_REQUEST_COLUMNS.filter((name) => name !== 'body')
  const rows = await visibleRequests(db, endpointId)
    .where('r.id', 'in', [...ids])
    .select(['r.id', ...columns.map((name) => `r.${name}` as const)])
    .select(
      sql<Buffer>`case when ${readsBody} and octet_length(r.body) <= ${PARSED_BODY_BYTES_MAX} then r.body else ''::bytea end`.as(
        'body',
      ),
    )
    .select(sealedMembers('r'))
    .orderBy('r.id')
    .execute()
  countPiece(rows.reduce((sum, row) => sum + row.body.length, 0) * COPIES)
  return rows
}
