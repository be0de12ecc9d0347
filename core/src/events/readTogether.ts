import { ALWAYS, holdsInSteps, requestRoot } from '../engine/conditions/index.ts'
import type { WireHeader } from '../engine/message/index.ts'
import { type Db, run } from '../platform/db/index.ts'
import { type DataKeyRef, keyOfRow } from '../platform/secrets/index.ts'
import { inSlices } from '../platform/turns/index.ts'
import { newestRequestId, storedRequest, visibleRequests } from '../requests/index.ts'
import type { EventFilter, FieldPath } from './filter.ts'
import { occurrenceOf } from './occurrence.ts'
import {
  REMOVED_UP_TO,
  readRows,
  type Sized,
  SKIPPED_UP_TO,
  takeChunk,
  WINDOW_ROWS,
  WINDOWS_MAX,
} from './page.ts'
import type { Occurrence } from './schema.ts'

/** Longest read of one endpoint, in milliseconds, before the other endpoints have their turn. */
const READ_MS_MAX = 100

/** One of several readers of an endpoint. */
export interface SharedReader {
  readonly name: string
  readonly filter: EventFilter
  readonly fields: readonly FieldPath[]
  readonly afterId: number
  /** Events that it takes; at least 1. */
  readonly room: number
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
  readonly isTruncated: boolean
}

interface Progress<Reader extends SharedReader> {
  readonly reader: Reader
  readonly events: ReadEvent[]
  lastId: number
  isTruncated: boolean
}

interface Candidate<Reader extends SharedReader> extends Sized {
  readonly wantedBy: Progress<Reader>[]
}

interface NarrowRow extends Sized {
  readonly label: string | null
  readonly verdict: string | null
}

/**
 * Reads the events of an endpoint once for many readers. Ends {@link READ_MS_MAX} after the first rows are there, but not
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
    accepts,
  }: { readonly readers: readonly Reader[]; accepts(headers: readonly WireHeader[]): boolean },
): Promise<readonly SharedResult<Reader>[]> {
  let endsAt = Number.POSITIVE_INFINITY
  const newestId = await newestRequestId(db, endpointId)
  const all = await begin(db, endpointId, readers)
  const isOpen = ({ reader, events, lastId }: Progress<Reader>) =>
    events.length < reader.room && lastId < newestId
  for (let windows = 0; windows < WINDOWS_MAX && performance.now() < endsAt; windows += 1) {
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
  return all
}

async function begin<Reader extends SharedReader>(db: Db, endpointId: string, readers: readonly Reader[]) {
  const [counters] = await run(db, REMOVED_UP_TO, [endpointId])
  const least = Math.min(...readers.map(({ afterId }) => afterId))
  const [behind] = await run(db, SKIPPED_UP_TO, [endpointId, least])
  return readers.map((reader): Progress<Reader> => {
    const lastId = Math.max(reader.afterId, behind?.id ?? 0)
    const isTruncated = lastId > reader.afterId || reader.afterId < (counters?.removedUpTo ?? 0)
    return { reader, events: [], lastId, isTruncated }
  })
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
    for (const label of labels ?? []) byLabel.set(label, [...(byLabel.get(label) ?? []), one])
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
