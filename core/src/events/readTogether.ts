import { sql } from 'kysely'
import { ALWAYS, holdsInSteps, requestRoot } from '../engine/conditions/index.ts'
import { PARSED_BODY_BYTES_MAX, type WireHeader } from '../engine/message/index.ts'
import { type Db, run, statement } from '../platform/db/index.ts'
import { countPiece } from '../platform/memory/index.ts'
import { type DataKeyRef, keyOfRow, sealedMembers } from '../platform/secrets/index.ts'
import { inSlices } from '../platform/turns/index.ts'
import { STORED_REQUEST_COLUMNS, storedRequest, visibleRequests } from '../requests/index.ts'
import type { EventFilter, FieldPath } from './filter.ts'
import { occurrenceOf } from './occurrence.ts'
import type { Occurrence } from './schema.ts'

/** A reader that is further behind skips what lies before. */
const BEHIND_MAX = 10_000
/** Requests that one window looks at. */
const WINDOW_ROWS = 2_000
const WINDOWS_MAX = 5
/** Bytes of bodies that are read at once, unless one request alone has more. */
const CHUNK_BYTES = 4 * 1024 * 1024
const COPIES = 4
/** Longest read of one endpoint, in milliseconds, before the other endpoints have their turn. */
const READ_MS_MAX = 100

/**
 * The largest id of a request of an endpoint that a limit or the retention removed, and the position of a reader that
 * has seen all. The position is not before
 * that id, also where nothing is stored any more: else every read there would be truncated.
 */
const BOUNDS = statement(
  'bounds of events',
  `select removed_up_to, greatest(
    removed_up_to, (select max(r.id) from requests r where r.endpoint_id = c.endpoint_id)
  ) as newest_id from endpoint_counters c where endpoint_id = $1::uuid`,
)

/** Requests that are read for that, since imported ones are no events and do not count. */
const LOOKED_MAX = 100_000

/** The newest capture of an endpoint that lies too far behind, after a position. */
const SKIPPED_UP_TO = statement(
  'events too far behind',
  `select id from (
    select id, imported from requests where endpoint_id = $1::uuid and id > $2::bigint order by id desc limit ${LOOKED_MAX}
  ) w where not imported order by id desc offset ${BEHIND_MAX} limit 1`,
)

/** Imported requests have any earlier time. */
const TOO_OLD = statement(
  'events too old',
  `select max(id) as id from (
    select id, received_at from (
      select id, received_at, imported from requests where endpoint_id = $1::uuid and id > $2::bigint order by id limit ${LOOKED_MAX}
    ) w where not imported order by id limit ${BEHIND_MAX}
  ) c where received_at < $3::timestamptz`,
)

/** One of several readers of an endpoint. */
export interface SharedReader {
  readonly name: string
  readonly filter: EventFilter
  readonly fields: readonly FieldPath[]
  readonly afterId: number
  /** Events that it takes at most. */
  readonly room: number
  /** Older requests are skipped. */
  readonly notBefore?: Date | null
}

/** An event, and facts of its request. */
interface ReadEvent {
  readonly occurrence: Occurrence
  readonly headers: readonly WireHeader[]
  /** The key that seals the request; null without. */
  readonly sealing: DataKeyRef | null
}

/** Events of one reader, in the order of their ids. */
export interface SharedResult<Reader extends SharedReader> {
  readonly reader: Reader
  readonly events: readonly ReadEvent[]
  /** Every request up to this one was looked at. */
  readonly lastId: number
  /**
   * Whether something after the position was removed, or skipped because it is too old or more than {@link BEHIND_MAX}
   * requests behind.
   */
  readonly isTruncated: boolean
}

interface Progress<Reader extends SharedReader> {
  readonly reader: Reader
  readonly events: ReadEvent[]
  lastId: number
  isTruncated: boolean
}

interface Sized {
  readonly id: number
  /** Length of the body. */
  readonly bytes: number
}

interface Candidate<Reader extends SharedReader> extends Sized {
  readonly wantedBy: Progress<Reader>[]
}

interface NarrowRow extends Sized {
  readonly label: string | null
  readonly verdict: string | null
}

async function boundsOf(db: Db, endpointId: string) {
  const [bounds] = await run(db, BOUNDS, [endpointId])
  return bounds ?? { removedUpTo: 0, newestId: 0 }
}

/** The position of a reader of an endpoint that begins now. */
export async function newestPosition(db: Db, endpointId: string): Promise<number> {
  return (await boundsOf(db, endpointId)).newestId
}

/**
 * Reads the events of an endpoint once for its readers. Ids are given out in the order of commits, so nothing appears
 * later below an id that was seen. Ends {@link READ_MS_MAX} after the first rows are there, but not
 * before one part of them is read, so that readers advance however far away the database is. The positions say how far
 * it came.
 *
 * @param accepts whether a request may be an event at all, by its headers
 */
export async function readTogether<Reader extends SharedReader>(
  db: Db,
  endpointId: string,
  {
    readers,
    accepts = () => true,
    signal,
  }: {
    readonly readers: readonly Reader[]
    accepts?(headers: readonly WireHeader[]): boolean
    readonly signal?: AbortSignal | undefined
  },
): Promise<{ readonly results: readonly SharedResult<Reader>[]; readonly newestId: number }> {
  let endsAt = Number.POSITIVE_INFINITY
  const { removedUpTo, newestId } = await boundsOf(db, endpointId)
  const all = await begin(db, endpointId, { readers, removedUpTo })
  const isOpen = ({ reader, events, lastId }: Progress<Reader>) =>
    events.length < reader.room && lastId < newestId
  for (let windows = 0; windows < WINDOWS_MAX && performance.now() < endsAt; windows += 1) {
    signal?.throwIfAborted()
    const open = all.filter(isOpen)
    if (open.length === 0) break
    const from = Math.min(...open.map(({ lastId }) => lastId))
    const rows = await narrowRows(db, endpointId, from, newestId)
    if (windows === 0) endsAt = performance.now() + READ_MS_MAX
    const end = rows.length === WINDOW_ROWS ? (rows.at(-1)?.id ?? newestId) : newestId
    const { candidates, lastOf } = candidatesOf(rows, open)
    for (let parts = 0; candidates.length > 0 && (parts === 0 || performance.now() < endsAt); parts += 1) {
      await takeEvents(db, endpointId, { candidates: takeChunk(candidates), accepts })
    }
    // The next read continues with the rest.
    const [left] = candidates
    const reached = left === undefined ? end : left.id - 1
    for (const one of open) {
      if (one.events.length === one.reader.room) continue
      one.lastId = Math.max(one.lastId, Math.min(reached, lastOf.get(one) ?? reached))
    }
    if (left !== undefined) break
  }
  return { results: all, newestId }
}

/** Events after a position, for one reader. Without room for any it only tells where the reader begins. */
export async function readPage(db: Db, endpointId: string, reader: SharedReader, signal?: AbortSignal) {
  const { results, newestId } = await readTogether(db, endpointId, { readers: [reader], signal })
  const [page] = results
  if (page === undefined) throw new Error('A read has no result.')
  return { ...page, hasMore: page.lastId < newestId }
}

async function begin<Reader extends SharedReader>(
  db: Db,
  endpointId: string,
  { readers, removedUpTo }: { readonly readers: readonly Reader[]; readonly removedUpTo: number },
) {
  const least = Math.min(...readers.map(({ afterId }) => afterId))
  const [behind] = await run(db, SKIPPED_UP_TO, [endpointId, least])
  return await Promise.all(
    readers.map(async (reader): Promise<Progress<Reader>> => {
      const { afterId, notBefore = null } = reader
      const from = Math.max(afterId, behind?.id ?? 0)
      const [old] = notBefore === null ? [] : await run(db, TOO_OLD, [endpointId, from, notBefore])
      const lastId = Math.max(from, old?.id ?? 0)
      const isTruncated = lastId > afterId || afterId < removedUpTo
      return { reader, events: [], lastId, isTruncated }
    }),
  )
}

/** Imported requests did not happen here. */
async function narrowRows(db: Db, endpointId: string, afterId: number, endId: number): Promise<NarrowRow[]> {
  return await visibleRequests(db, endpointId)
    .where('r.id', '>', afterId)
    .where('r.id', '<=', endId)
    .where('r.imported', '=', false)
    .select(['r.id', 'r.label', 'r.verdict'])
    .select((of) => of.fn<number>('octet_length', ['r.body']).as('bytes'))
    .orderBy('r.id')
    .limit(WINDOW_ROWS)
    .execute()
}

/**
 * Requests that some reader wants, by label and verdict; the reader's condition is not evaluated yet. `lastOf`: the last
 * candidate of a reader that has no room for further ones.
 */
function candidatesOf<Reader extends SharedReader>(
  rows: readonly NarrowRow[],
  readers: readonly Progress<Reader>[],
): { candidates: Candidate<Reader>[]; lastOf: ReadonlyMap<Progress<Reader>, number> } {
  const byLabel = new Map<string, Progress<Reader>[]>()
  const ofAny: Progress<Reader>[] = []
  for (const one of readers) {
    const { labels } = one.reader.filter
    if (labels === null) ofAny.push(one)
    for (const label of new Set(labels)) byLabel.set(label, [...(byLabel.get(label) ?? []), one])
  }
  // Readers without a condition need no candidates beyond their room.
  const counts = new Map<Progress<Reader>, number>()
  const lastOf = new Map<Progress<Reader>, number>()
  const isWanted = (one: Progress<Reader>, { id, verdict }: NarrowRow) => {
    const { filter, room } = one.reader
    if (id <= one.lastId) return false
    if (filter.verification !== undefined && (verdict ?? 'none') !== filter.verification) return false
    if (filter.condition !== ALWAYS) return true
    const count = (counts.get(one) ?? one.events.length) + 1
    counts.set(one, count)
    if (count === room) lastOf.set(one, id)
    return count <= room
  }
  const candidates: Candidate<Reader>[] = []
  for (const row of rows) {
    const named = row.label === null ? [] : (byLabel.get(row.label) ?? [])
    const wantedBy = [...ofAny, ...named].filter((one) => isWanted(one, row))
    if (wantedBy.length > 0) candidates.push({ id: row.id, bytes: row.bytes, wantedBy })
  }
  return { candidates, lastOf }
}

async function takeEvents<Reader extends SharedReader>(
  db: Db,
  endpointId: string,
  {
    candidates,
    accepts,
  }: { readonly candidates: readonly Candidate<Reader>[]; accepts(headers: readonly WireHeader[]): boolean },
): Promise<void> {
  const wantedBy = new Map(candidates.map((candidate) => [candidate.id, candidate.wantedBy]))
  const readsBody = candidates.some((candidate) =>
    candidate.wantedBy.some(({ reader }) => reader.filter.condition !== ALWAYS || reader.fields.length > 0),
  )
  for (const row of await readRows(db, endpointId, [...wantedBy.keys()], { readsBody })) {
    const request = storedRequest(row)
    if (!accepts(request.headers)) continue
    const root = requestRoot(request)
    for (const one of wantedBy.get(row.id) ?? []) {
      const { name, filter, fields, room } = one.reader
      if (one.events.length === room) continue
      const holds = filter.condition === ALWAYS || (await inSlices(holdsInSteps(filter.condition, root)))
      if (!holds) continue
      one.events.push({
        occurrence: occurrenceOf(name, row, fields),
        headers: request.headers,
        sealing: keyOfRow(row),
      })
      if (one.events.length === room) one.lastId = row.id
    }
  }
}

/** Takes the first ids whose bodies together are short enough; one at least. */
function takeChunk<Item extends Sized>(sizes: Item[]): Item[] {
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
async function readRows(
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
