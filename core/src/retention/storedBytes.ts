import { sql } from 'kysely'
import { type Db, type RowsOf, run, statement } from '../platform/db/index.ts'
import { stateOf } from '../platform/stateOf.ts'
import { originalBytesOf, storageBytesOf } from '../requests/index.ts'
import { CLAIM_BYTES } from './eventClaims.ts'

export interface Storage {
  readonly workspaces: readonly (RowsOf<typeof STORAGE> & { readonly hasOriginals: boolean })[]
  /** All bytes, including the recycle bin and hidden requests, limited by `CREEL_STORAGE_MAX`. */
  readonly totalBytes: number
}

/** Bytes of the requests and claims of `endpoint_counters c`. */
const COUNTED = `(c.storage_bytes + c.claim_count * ${CLAIM_BYTES})`

const BYTES = `coalesce(sum(${storageBytesOf('r')}), 0)::bigint`

/**
 * Storage of workspaces. `storage_bytes`: stored requests, their attempts and the claims of events. `held_bytes`: the
 * same with those of deleted endpoints. Originals are summed up apart.
 */
const STORAGE = statement(
  'storage of workspaces',
  `select w.id as workspace_id, w.plan,
    coalesce(sum(${COUNTED} + coalesce(a.bytes, 0)) filter (where e.deleted_at is null), 0)::bigint as storage_bytes,
    sum(${COUNTED} + coalesce(a.bytes, 0))::bigint as held_bytes
  from endpoint_counters c
  join endpoints e on e.id = c.endpoint_id
  join workspaces w on w.id = e.workspace_id
  left join (select endpoint_id, sum(bytes) as bytes from attempt_bytes group by endpoint_id) a
    on a.endpoint_id = c.endpoint_id
  group by w.id, w.plan`,
  { isPrepared: false },
)

/**
 * Bytes of originals, of the workspace `$1` or of all. `stored_bytes`: those of stored requests, neither in the recycle
 * bin nor hidden. It reads each original's row and its request's, but no bytes of them.
 */
const ORIGINALS = statement(
  'bytes of originals',
  `select e.workspace_id, count(*)::int as count, sum(${originalBytesOf('o')})::bigint as held_bytes,
    coalesce(sum(${originalBytesOf('o')}) filter (where e.deleted_at is null and exists (
      select from requests r
      where r.endpoint_id = o.endpoint_id and r.id = o.request_id and r.deleted_at is null and r.hidden_at is null
    )), 0)::bigint as stored_bytes
  from request_originals o join endpoints e on e.id = o.endpoint_id
  where $1::uuid is null or e.workspace_id = $1
  group by e.workspace_id`,
  { isPrepared: false },
)

type OriginalBytes = Pick<RowsOf<typeof ORIGINALS>, 'heldBytes' | 'storedBytes'>
const NO_ORIGINALS: OriginalBytes = { heldBytes: 0, storedBytes: 0 }

/** Sums of each workspace, as a sweep last read them, if there were many originals. */
const originalsOf = stateOf<Db, { sums: ReadonlyMap<string, OriginalBytes>; until: number }>(() => ({
  sums: new Map(),
  until: Number.NEGATIVE_INFINITY,
}))
/** Sums of more originals are used for so many times as long as reading them took, so as not to burden the database. */
const ORIGINALS_FEW = 10_000
const ORIGINALS_REST = { times: 20, msMax: 30_000 } as const

const knownOriginals = (db: Db): ReadonlyMap<string, OriginalBytes> | undefined => {
  const { sums, until } = originalsOf(db)
  return performance.now() < until ? sums : undefined
}

async function readOriginals(db: Db): Promise<ReadonlyMap<string, OriginalBytes>> {
  const startedAt = performance.now()
  const rows = await run(db, ORIGINALS, [null])
  const sums = new Map(rows.map((row) => [row.workspaceId, row]))
  const now = performance.now()
  const restMs = Math.min(ORIGINALS_REST.msMax, ORIGINALS_REST.times * (now - startedAt))
  const isMany = rows.reduce((sum, { count }) => sum + count, 0) > ORIGINALS_FEW
  Object.assign(originalsOf(db), { sums, until: isMany ? now + restMs : now })
  return sums
}

const HIDDEN_REQUESTS = statement(
  'bytes of hidden requests',
  `select ${BYTES} as bytes from requests r where r.hidden_at is not null`,
  { isPrepared: false },
)

const BINS = statement(
  'recycle bins',
  'select endpoint_id, binned_request_count as count from endpoint_counters where binned_request_count > 0',
  { isPrepared: false },
)

const BIN_BYTES = statement(
  'bytes of recycle bins',
  `select r.endpoint_id, ${BYTES} as bytes from requests r
  where r.endpoint_id = any($1::uuid[]) and r.deleted_at is not null and r.hidden_at is null group by r.endpoint_id`,
  { isPrepared: false },
)

/** Bytes of each bin as it was last summed up, with its count. */
const binsOf = stateOf<
  Db,
  Map<string, { readonly count: number; readonly bytes: number; readonly at: number }>
>(() => new Map())
/** A bin whose count stays is summed up again after so long: as many requests may have come as have gone. */
const BIN_KNOWN_MS = 60_000

/** Bytes of the recycle bins. Only those whose counts have changed are summed up. */
async function readBinBytes(db: Db): Promise<number> {
  const known = binsOf(db)
  const at = performance.now()
  const bins = await run(db, BINS, [])
  const changed = bins.filter(({ endpointId, count }) => {
    const bin = known.get(endpointId)
    return bin?.count !== count || at - bin.at > BIN_KNOWN_MS
  })
  const ids = changed.map(({ endpointId }) => endpointId)
  const sums = ids.length === 0 ? [] : await run(db, BIN_BYTES, [ids])
  const bytesOf = new Map(sums.map(({ endpointId, bytes }) => [endpointId, bytes]))
  for (const { endpointId, count } of changed)
    known.set(endpointId, { count, bytes: bytesOf.get(endpointId) ?? 0, at })
  const present = new Set(bins.map(({ endpointId }) => endpointId))
  for (const endpointId of known.keys()) if (!present.has(endpointId)) known.delete(endpointId)
  return bins.reduce((sum, { endpointId }) => sum + (known.get(endpointId)?.bytes ?? 0), 0)
}

/**
 * Sums up the counters, in some milliseconds for ten thousand endpoints. Bytes of binned or hidden requests are read
 * from their rows: hidden ones are few, and of bins only those that have changed. If there are many originals, their bytes
 * may be half a minute old.
 *
 * @param options `isFresh`: no sums of before, for a caller that has deleted something
 */
export async function readStorage(db: Db, { isFresh = false } = {}): Promise<Storage> {
  const originals = (isFresh ? undefined : knownOriginals(db)) ?? (await readOriginals(db))
  const workspaces = (await run(db, STORAGE, [])).map((row) => {
    const { heldBytes, storedBytes } = originals.get(row.workspaceId) ?? NO_ORIGINALS
    return {
      ...row,
      storageBytes: row.storageBytes + storedBytes,
      heldBytes: row.heldBytes + heldBytes,
      hasOriginals: heldBytes > 0,
    }
  })
  const [hidden] = await run(db, HIDDEN_REQUESTS, [])
  const counted = workspaces.reduce((sum, { heldBytes }) => sum + heldBytes, 0)
  return { workspaces, totalBytes: counted + (hidden?.bytes ?? 0) + (await readBinBytes(db)) }
}

const STORAGE_OF = statement(
  'storage of a workspace',
  `with counters as (
    select c.endpoint_id, ${COUNTED} as storage_bytes from endpoints e join endpoint_counters c on c.endpoint_id = e.id
    where e.workspace_id = $1 and e.deleted_at is null
  )
  select (
    coalesce((select sum(storage_bytes) from counters), 0)
    + coalesce((select sum(a.bytes) from attempt_bytes a join counters c on c.endpoint_id = a.endpoint_id), 0)
  )::bigint as bytes`,
  { isPrepared: false },
)

/**
 * Bytes of a workspace's stored requests with their originals, the attempts and the claims of its events, limited by
 * `storedBytesMax`. If there are many originals, their bytes may be half a minute old.
 *
 * @param options `isFresh`: no sums of before, for a caller that has deleted something
 */
export async function readStorageOf(db: Db, workspaceId: string, { isFresh = false } = {}): Promise<number> {
  const [counted] = await run(db, STORAGE_OF, [workspaceId])
  const known = isFresh ? undefined : knownOriginals(db)
  const originals = known?.get(workspaceId) ?? (await run(db, ORIGINALS, [workspaceId]))[0]
  return (counted?.bytes ?? 0) + (originals?.storedBytes ?? 0)
}

const HIDDEN = statement(
  'hidden bytes',
  `select coalesce(sum(${storageBytesOf('r')} + coalesce((
    select sum(d.storage_bytes) from attempt_details d where d.endpoint_id = r.endpoint_id and d.request_id = r.id
  ), 0) + coalesce((
    select ${originalBytesOf('o')} from request_originals o where o.endpoint_id = r.endpoint_id and o.request_id = r.id
  ), 0)), 0)::bigint as bytes
  from requests r join endpoints e on e.id = r.endpoint_id
  where r.hidden_at is not null and ($1::uuid is null or e.workspace_id = $1)`,
  { isPrepared: false },
)

/** Bytes of hidden requests with their originals, and of their attempts' records, of a workspace or of all. */
export async function readHiddenBytes(db: Db, workspaceId: string | null): Promise<number> {
  const rows = await run(db, HIDDEN, [workspaceId])
  return rows[0]?.bytes ?? 0
}

/** Tables that captures and deliveries fill by thousands of rows a second. */
const FAST_GROWING = ['requests', 'deliveries', 'delivery_attempts'] as const
/** A table has outgrown its statistics when it has more than 8 pages plus 4 times the pages in the statistics. */
const OUTGROWN = { pages: 8, times: 4 } as const

const FIND_OUTGROWN = statement(
  'find outgrown tables',
  `select relname as name from pg_class
  where oid = any ($1::text[]::regclass[])
    and pg_relation_size(oid) / current_setting('block_size')::int > ${OUTGROWN.pages} + ${OUTGROWN.times} * relpages`,
  { isPrepared: false },
)

/**
 * Analyses the tables that have grown several times over since their last analysis, so that no connection keeps a plan
 * from when a table was almost empty. Autovacuum does the same, up to a minute later.
 *
 * If no table has grown, it only reads three file sizes. A locked table is skipped until the next call.
 */
export async function analyzeOutgrown(db: Db): Promise<void> {
  const rows = await run(db, FIND_OUTGROWN, [[...FAST_GROWING]])
  for (const { name } of rows) await sql`analyze (skip_locked) ${sql.table(name)}`.execute(db)
}
