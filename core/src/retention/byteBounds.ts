import { setTimeout as sleep } from 'node:timers/promises'
import type { Services } from '../api/services.ts'
import { foldAttemptBytes } from '../deliveries/index.ts'
import { planOf } from '../plans/index.ts'
import { type Db, Failures, run, statement } from '../platform/db/index.ts'
import { stateOf } from '../platform/stateOf.ts'
import { evictedRequests, sweepOriginals } from '../requests/index.ts'
import { STORAGE_SWEEP_SECONDS, sweptRows } from './declarations.ts'
import { type Eviction, evictEach, turnOf } from './endpointsToSweep.ts'
import { evictClaims } from './eventClaims.ts'
import {
  attemptBytes,
  emptyBin,
  evictHidden,
  evictOldest,
  fewest,
  LARGEST_OF_ATTEMPTS,
  raiseMarksOfBins,
} from './evictOldest.ts'
import { removeAttempts } from './removal.ts'
import { readHiddenBytes, readStorage, readStorageOf, type Storage } from './storedBytes.ts'

type BoundServices = Pick<Services, 'db' | 'clock' | 'plans' | 'enqueue' | 'log' | 'storageMaxBytes'>

type BoundEviction = Eviction & Pick<Services, 'log'> & { readonly signal: AbortSignal }

/** Share of a limit for hidden requests, which wait for their deliveries. */
const HIDDEN_SHARE = 1 / 4
/** Share of the installation's limit above which a warning is logged. */
export const NEARLY_FULL = 0.8
/** Share of a limit below which checks are less frequent. */
const HALF = 0.5
/** Pause between looks while a bound is half reached. */
const LOOK_MS = 1000
/** A warning that holds on is repeated so often. */
const WARN_EVERY_MS = 600_000
/** When each process last warned, by its handle of the database. */
const warningOf = stateOf<BoundServices['db'], { at: number }>(() => ({ at: Number.NEGATIVE_INFINITY }))
const REST_MS_MAX = 200

/**
 * Holds `storedBytesMax` of every workspace and `CREEL_STORAGE_MAX` of the installation: what is over goes, the oldest first. Looks
 * once where all are less than half full, else every second until the next run is due or the signal aborts. Several processes may do it
 * at once.
 */
export async function holdByteBounds(services: BoundServices, signal: AbortSignal): Promise<void> {
  const until = performance.now() + STORAGE_SWEEP_SECONDS * 1000
  do {
    const storage = await sweepBytes(services, signal)
    warnWhenNearlyFull(services, storage)
    if (fullness(services, storage) < HALF) return
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  } while (!signal.aborted && performance.now() < until)
}

function warnWhenNearlyFull({ db, log, storageMaxBytes }: BoundServices, { totalBytes }: Storage): void {
  const warning = warningOf(db)
  if (storageMaxBytes === null || totalBytes < NEARLY_FULL * storageMaxBytes)
    warning.at = Number.NEGATIVE_INFINITY
  else if (performance.now() - warning.at > WARN_EVERY_MS) {
    warning.at = performance.now()
    log.warn(
      { event: 'storage.nearly_full', storedBytes: totalBytes, storageMaxBytes },
      'captures take over 80 % of CREEL_STORAGE_MAX: at 100 % the oldest are evicted',
    )
  }
}

function fullness({ plans, storageMaxBytes }: BoundServices, storage: Storage): number {
  const ofWorkspaces = storage.workspaces.map(
    ({ plan, storageBytes }) => storageBytes / Math.max(1, planOf(plans, plan).limits.storedBytesMax),
  )
  const ofAll = storageMaxBytes === null ? 0 : storage.totalBytes / Math.max(1, storageMaxBytes)
  return ofWorkspaces.reduce((closest, share) => Math.max(closest, share), ofAll)
}

/**
 * Evicts until no byte limit is exceeded, some seconds for each workspace and for all. An endpoint, or a workspace, that
 * fails keeps no others from it.
 *
 * @returns the storage before the eviction
 */
export async function sweepBytes(services: BoundServices, signal: AbortSignal): Promise<Storage> {
  const failures = new Failures()
  await foldAttemptBytes(services.db)
  const storage = await readStorage(services.db)
  const evictionOf = (workspaceId: string | null): BoundEviction => {
    return { ...services, workspaceId, failures, failed: new Set<string>(), signal: turnOf(signal) }
  }
  for (const { workspaceId, plan, storageBytes, hasOriginals } of storage.workspaces) {
    const { storedBytesMax } = planOf(services.plans, plan).limits
    if (storageBytes <= storedBytesMax) continue
    await failures.unless(async () => {
      if (hasOriginals) await sweepOriginalsOf(services, workspaceId, turnOf(signal))
      await holdWorkspace(evictionOf(workspaceId), workspaceId, storedBytesMax)
    })
  }
  const { storageMaxBytes } = services
  if (storageMaxBytes !== null && storage.totalBytes > storageMaxBytes)
    await failures.unless(async () => {
      const hasOriginals = storage.workspaces.some((one) => one.hasOriginals)
      if (hasOriginals) await sweepOriginalsOf(services, null, turnOf(signal))
      await holdInstallation(evictionOf(null), storageMaxBytes)
    })
  failures.throwAny()
  return storage
}

/** Interval of looks at the originals of what is over its bound; `endpoints.sweep` looks at all each minute. */
const ORIGINALS_EVERY_MS = 10_000
const originalsSwept = stateOf<Db, Map<string | null, number>>(() => new Map())

/**
 * Destroys the originals of a workspace, or of all, whose deliveries have ended, so that fewer requests are evicted. It
 * does nothing if it was called for them less than {@link ORIGINALS_EVERY_MS} ago.
 */
async function sweepOriginalsOf(services: BoundServices, workspaceId: string | null, signal: AbortSignal) {
  const sweptAt = originalsSwept(services.db)
  const now = performance.now()
  for (const [id, at] of sweptAt) if (now - at >= ORIGINALS_EVERY_MS) sweptAt.delete(id)
  if (sweptAt.has(workspaceId)) return
  sweptAt.set(workspaceId, now)
  await sweepOriginals(services, signal, workspaceId)
}

/**
 * Evicts attempts without requests first, then requests in the recycle bin that have attempts and are older than all that
 * their endpoint stores, then stored requests, then claims of events.
 */
async function holdWorkspace(eviction: BoundEviction, workspaceId: string, storedBytesMax: number) {
  const { db, signal } = eviction
  await raiseMarksOfBins(eviction, workspaceId)
  await restingBetween(signal, async () => {
    const excess = (await readStorageOf(db, workspaceId, { isFresh: true })) - storedBytesMax
    if (excess <= 0) return false
    if ((await evictAttempts(eviction, excess)) > 0) return true
    let evicted = await emptyBin(eviction, excess)
    if (evicted === 0) evicted = await evictOldest(eviction, excess)
    evictedRequests.inc({ limit: 'bytes' }, evicted)
    return evicted > 0 || (await evictClaims(eviction, excess)) > 0
  })
  await restingBetween(signal, async () => {
    const hidden = await readHiddenBytes(db, workspaceId)
    if (hidden <= storedBytesMax * HIDDEN_SHARE) return false
    return (await evictHidden(eviction)) > 0
  })
}

/**
 * Evicts from the recycle bin first, then attempts without requests, then stored requests, then hidden ones, then claims
 * of events. If hidden requests exceed their share, they go before stored ones.
 */
async function holdInstallation(eviction: BoundEviction, storageMaxBytes: number): Promise<void> {
  const { db, log, signal } = eviction
  let evictedCount = 0
  await restingBetween(signal, async () => {
    const { totalBytes } = await readStorage(db, { isFresh: true })
    const excess = totalBytes - storageMaxBytes
    if (excess <= 0) return false
    let evicted = await emptyBin(eviction, excess)
    if (evicted === 0 && (await evictAttempts(eviction, excess)) > 0) return true
    const isHiddenTooLarge =
      evicted === 0 && (await readHiddenBytes(db, null)) > storageMaxBytes * HIDDEN_SHARE
    if (evicted === 0 && !isHiddenTooLarge) evicted = await evictOldest(eviction, excess)
    if (evicted === 0) evicted = await evictHidden(eviction)
    evictedRequests.inc({ limit: 'storage' }, evicted)
    evictedCount += evicted
    return evicted > 0 || (await evictClaims(eviction, excess)) > 0
  })
  log.warn(
    { event: 'storage.full', evictedCount, storageMaxBytes },
    'CREEL_STORAGE_MAX was reached: the oldest captures were evicted',
  )
}

/** Runs batches with pauses as long as each batch took, so that captures have at least half of the database. */
async function restingBetween(signal: AbortSignal, batch: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted) {
    const startedAt = performance.now()
    if (!(await batch())) return
    await sleep(Math.min(REST_MS_MAX, performance.now() - startedAt))
  }
}

const ATTEMPTS_OF_EACH = 200

const OLDEST = statement(
  'oldest attempts without a request',
  `select m.endpoint_id, a.id, a.bytes
  from (${LARGEST_OF_ATTEMPTS}) m
  cross join lateral (
    select t.id, t.request_id, ${attemptBytes('t')} as bytes
    from delivery_attempts t
    where t.endpoint_id = m.endpoint_id and t.request_id < m.mark and t.state <> 'Pending' and not exists (
      select from requests r where r.endpoint_id = t.endpoint_id and r.id = t.request_id
    )
    order by t.request_id, t.id limit ${ATTEMPTS_OF_EACH}
  ) a
  order by a.request_id, a.id`,
  { isPrepared: false },
)

/**
 * Deletes some of the oldest attempts without a stored request, with their records: as few as needed to free `bytes`,
 * from the endpoints with the most attempt bytes. These attempts are older than every stored request of their endpoint.
 *
 * @returns the number of deleted attempts; 0 if there are none left
 */
async function evictAttempts(eviction: Eviction, bytes: number): Promise<number> {
  // No request is stored below an endpoint's mark; those in the table are binned, or hidden with deliveries still due.
  const oldest = async (of: readonly unknown[]) => fewest(await run(eviction.db, OLDEST, of), bytes)
  return await evictEach(eviction, oldest, async (trx, endpointId, of) => {
    await removeAttempts(trx, endpointId, { attemptIds: of.map(({ id }) => id) })
    sweptRows.inc({ sweep: 'attempts' }, of.length)
  })
}
