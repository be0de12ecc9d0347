import { sql } from 'kysely'
import { findAction } from '../actions/index.ts'
import type { Services } from '../api/services.ts'
import { admitGuest, storedPolicy, TIMEOUT_SECONDS } from '../deliveries/index.ts'
import { sendsInFlight } from '../dispatch/index.ts'
import { findEndpoint } from '../endpoints/index.ts'
import { isSealed } from '../keys/index.ts'
import { planOf } from '../plans/index.ts'
import { isDatabaseOutage, isRefusedForGood } from '../platform/db/index.ts'
import { keyOfRow } from '../platform/secrets/index.ts'
import { sleep } from '../platform/time/index.ts'
import { claimRun, type HeldRun, heldRun, releaseRun, renewRun, requeueLost } from '../runs/index.ts'
import { RENEWAL_MS, RUNNING_MAX, SLICE_MS } from './bounds.ts'
import { endReplay, pauseAbandoned } from './control.ts'
import { failSend, finishSend } from './finish.ts'
import { REPLAY_RUNS, REPLAYS } from './jobs.ts'
import { sendsInPairs, storedOptions } from './options.ts'
import { prepare } from './prepare.ts'
import {
  claimItems,
  countRunning,
  findCaptured,
  type ItemRow,
  nextDue,
  type ReplayRow,
  releaseItems,
  updateReplay,
} from './queries.ts'
import { type Sending, send } from './send.ts'

/** A wait longer than this is left to the queue. */
const WAIT_MS_MAX = 2_000
/** Beyond this delay the schedule is shifted; it does not catch up. */
const BEHIND_MS_MAX = 1_000
/** Interval of looks at a replay whose workspace is sealed. */
const SEALED_MS = 2_000

/**
 * Works on a replay for {@link SLICE_MS}, and queues the job that continues it. Safe to run twice and to be interrupted
 * anywhere: a send is marked before it is made, so only those under way are made again.
 *
 * @throws errors of an unreachable database
 */
export async function runReplay(
  services: Services,
  { replayId }: { readonly replayId: string },
  signal: AbortSignal,
): Promise<void> {
  const row = await claim(services, replayId)
  if (row === undefined) return
  const beat = setInterval(() => {
    renewRun(services, REPLAYS, row).catch((err: unknown) =>
      services.log.warn({ err, replayId }, 'the lease of a replay was not renewed'),
    )
  }, RENEWAL_MS)
  beat.unref()
  try {
    const sending = await findSending(services, row)
    if (typeof sending === 'string') await end(services, row, 'failed', sending)
    else await workOn(services, row, sending, signal)
  } catch (error) {
    if (isDatabaseOutage(error)) throw error
    services.log.error({ err: error, replayId }, 'a replay failed')
    await end(services, row, 'failed', 'internal_error')
  } finally {
    clearInterval(beat)
  }
}

/** A replay that a job holds. */
type Held = ReplayRow & HeldRun & { readonly baseAt: Date }

async function claim(services: Services, id: string): Promise<Held | undefined> {
  const { db, clock, enqueue } = services
  return await db.transaction().execute(async (trx) => {
    const known = await trx
      .selectFrom('replays')
      .innerJoin('workspaces as w', 'w.id', 'replays.workspaceId')
      .where('replays.id', '=', id)
      .select(['workspaceId', sql<boolean>`${sql.raw(isSealed('w'))}`.as('isSealed')])
      .executeTakeFirst()
    if (known === undefined) return undefined
    const now = clock.now()
    if (known.isSealed) {
      const startAfter = new Date(now.getTime() + SEALED_MS)
      await enqueue(trx, REPLAY_RUNS, [{ payload: { replayId: id }, startAfter }])
      return undefined
    }
    const { workspaceId } = known
    const row = await claimRun<ReplayRow, { replayId: string }>(
      services,
      trx,
      REPLAYS,
      { id, workspaceId },
      async () => (await countRunning(trx, workspaceId)) < RUNNING_MAX,
    )
    if (row === undefined) return undefined
    await releaseItems(trx, id)
    const next = await nextDue(trx, { replayId: id, leaseId: row.leaseId, inPairs: false, now })
    const baseAt = baseOf(row, next?.dueMs ?? 0, now)
    await updateReplay(trx, id, { baseAt })
    return { ...row, baseAt }
  })
}

/** Wall-clock time of offset 0. It moves on after a hold-up, so that the distances between sends stay. */
function baseOf({ baseAt }: ReplayRow, nextDueMs: number, now: Date): Date {
  const isBehind = baseAt === null || baseAt.getTime() + nextDueMs < now.getTime() - BEHIND_MS_MAX
  return isBehind ? new Date(now.getTime() - nextDueMs) : baseAt
}

/** Finds endpoint and action of the sends; a reason if one is gone. */
async function findSending(
  { db, plans }: Services,
  { id, workspaceId, endpointId, options: text }: ReplayRow,
): Promise<Sending | string> {
  const options = storedOptions(text)
  const endpoint = await findEndpoint(db, workspaceId, endpointId)
  if (endpoint === undefined) return 'endpoint_gone'
  if (!endpoint.allowRehearsal) return 'rehearsal_forbidden'
  const workspace = await db
    .selectFrom('workspaces')
    .where('id', '=', workspaceId)
    .select('plan')
    .executeTakeFirstOrThrow()
  const base = { id, workspaceId, options, endpoint, plan: planOf(plans, workspace.plan) }
  if (!('actionId' in options.to)) return { ...base, action: null }
  const action = await findAction(db, endpointId, options.to.actionId)
  if (action === undefined || !action.isActive || action.suspendedByPlan) return 'action_off'
  if (action.pausedAt !== null) return 'action_paused'
  return { ...base, action }
}

async function workOn(services: Services, row: Held, sending: Sending, signal: AbortSignal): Promise<void> {
  const stop = AbortSignal.any([signal, services.stopping])
  const endsAt = performance.now() + SLICE_MS
  const isOver = () => stop.aborted || performance.now() >= endsAt
  const underWay = new Set<Promise<void>>()
  const policy = storedPolicy(sending.action?.deliveryPolicy ?? null)
  const atOnce = Math.min(sending.options.concurrency, policy.concurrency ?? sending.options.concurrency)
  const failures: unknown[] = []
  const begin = (item: ItemRow) => {
    // Caught here: a failure while others are waited for must not end the process.
    const work = sendItem(services, sending, item, isOver)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => underWay.delete(work))
    underWay.add(work)
  }
  const held = { replayId: row.id, leaseId: row.leaseId, inPairs: sendsInPairs(sending.options) }
  const { db, clock } = services
  let wait = 0
  let isDone = false
  while (!isOver() && failures.length === 0) {
    const holder = { ...held, now: clock.now() }
    const elapsedMs = holder.now.getTime() - row.baseAt.getTime()
    const limit = atOnce - underWay.size
    const claimed = limit === 0 ? [] : await claimItems(db, holder, { elapsedMs, limit })
    for (const item of claimed) begin(item)
    if (claimed.length === limit) {
      await Promise.race(underWay)
      continue
    }
    const next = await nextDue(db, holder)
    if (next === undefined) break
    isDone = next.dueMs === null && underWay.size === 0
    wait = next.dueMs === null ? WAIT_MS_MAX : row.baseAt.getTime() + next.dueMs - clock.now().getTime()
    if (isDone || (underWay.size === 0 && wait > WAIT_MS_MAX)) break
    // The end of a send may let the second of its pair begin.
    await Promise.race([sleep(Math.min(wait, WAIT_MS_MAX)), ...underWay])
  }
  await Promise.all(underWay)
  if (failures.length > 0) throw failures[0]
  if (isDone) await end(services, row, 'done', null)
  else await releaseRun(services, REPLAYS, row, wait > WAIT_MS_MAX ? wait - WAIT_MS_MAX / 2 : 0)
}

/** @param isOver whether no send should begin any more. The next job makes one that did not begin */
async function sendItem(
  services: Services,
  sending: Sending,
  item: ItemRow,
  isOver: () => boolean,
): Promise<void> {
  const captured = await findCaptured(services.db, sending.endpoint.id, item.requestId)
  const prepared = await prepare(services, sending, item, captured)
  if (captured === undefined || 'error' in prepared)
    return await failSend(services, item, 'error' in prepared ? prepared.error : 'request_gone')
  const place = await placeOf(services, sending, isOver)
  if (place === null) return
  sendsInFlight.inc({ kind: 'rehearsal' })
  try {
    // A send that has begun ends, also while the service stops.
    const received = await send(
      services,
      sending,
      item,
      { ...prepared, sealing: keyOfRow(captured) },
      new AbortController().signal,
    )
    await finishSend(services, { endpointId: sending.endpoint.id, options: sending.options }, item, received)
  } catch (err) {
    if (!isRefusedForGood(err)) throw err
    services.log.error({ err, replayId: item.replayId }, 'dropped a result that cannot be recorded')
    await failSend(services, item, 'internal_error')
  } finally {
    sendsInFlight.dec({ kind: 'rehearsal' })
    await place.leave()
  }
}

/** A place in the flow of the action; null if no send should begin. A URL has no flow. */
async function placeOf(services: Services, { action, options }: Sending, isOver: () => boolean) {
  if (action === null) return { leave: async () => {} }
  const timeoutSeconds = options.timeoutSeconds ?? storedPolicy(action.deliveryPolicy).timeoutSeconds
  return await admitGuest(services, action.id, { timeoutSeconds: timeoutSeconds ?? TIMEOUT_SECONDS, isOver })
}

async function end(
  services: Services,
  held: Held,
  state: 'done' | 'failed',
  reason: string | null,
): Promise<void> {
  await heldRun(services, REPLAYS, held, (trx, row) => endReplay(trx, services, row, { state, reason }))
}

/** Queues a job for each replay that lost its own, and pauses those whose listeners have gone. */
export async function sweepReplays(services: Pick<Services, 'db' | 'clock' | 'enqueue'>): Promise<void> {
  await pauseAbandoned(services)
  await requeueLost(services, REPLAYS)
}
