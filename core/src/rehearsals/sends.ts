import { findAction, isOn } from '../actions/index.ts'
import { DomainError } from '../api/errors.ts'
import { SEALED_MS } from '../api/seal.ts'
import { aheadMs, type Services } from '../api/services.ts'
import {
  admitGuests,
  type Concluded,
  conclude,
  finishGuests,
  type GuestStarts,
  reserveStart,
  startGuests,
  storedPolicy,
  TIMEOUT_SECONDS,
  tellGuests,
} from '../deliveries/index.ts'
import {
  type Adapter,
  type Ended,
  type Lane,
  type Look,
  type Outcome,
  type Send,
  waitingOf,
} from '../dispatch/index.ts'
import { planOf } from '../plans/index.ts'
import { isPassing, run, statement, type Trx } from '../platform/db/index.ts'
import { keyOfRow } from '../platform/secrets/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'
import { endReplay } from './control.ts'
import { LEASE_GRACE_MS, LOST_MAX, REPLAY_LANES } from './declarations.ts'
import { answeredEnd, CUT_OFF, failedEnd, finishSends, receivedOf, type SendEnd } from './finish.ts'
import { type ReplayOptions, storedOptions } from './options.ts'
import { prepare } from './prepare.ts'
import {
  type ClaimedItem,
  claimItems,
  findCaptured,
  findPermitting,
  hasRoom,
  isOver,
  lockRun,
  type Progress,
  progressOf,
  type RunRow,
  updateRun,
} from './queries.ts'
import { makeSend, type Sending } from './send.ts'

/** Starts are claimed this long before a further look could, in milliseconds. */
const AHEAD_MS = 100
/** Beyond this delay the schedule is shifted; it does not catch up. */
const BEHIND_MS_MAX = 1_000
/** Beyond this time a job leads to a look, this much earlier, since jobs are late by up to some seconds. */
const JOB_MS = { after: 60_000, earlier: 5_000 } as const

const NOTHING: Look<RehearsalSend> = { sends: [], nextInMs: null }

/** Lanes of replays that the service sends: all, or those of the workspace `$1`. */
const FIND = statement(
  'replays to send',
  `select id, workspace_id from replays
  where state in ('queued', 'running') and listened_at is null and ($1::uuid is null or workspace_id = $1::uuid)`,
)

const WAITING = statement(
  'sends of replays waiting',
  waitingOf(`select p.base_at + i.due_ms * interval '1 ms' as due_at
    from replays p join replay_items i on i.replay_id = p.id and i.state = 'waiting'
    where p.state = 'running' and p.listened_at is null and p.base_at + i.due_ms * interval '1 ms' <= $1::timestamptz`),
)

interface RehearsalSend extends Send {
  readonly item: ClaimedItem
  readonly sending: Sending
}

interface RehearsalResult extends Outcome {
  readonly end: SendEnd
  /** The attempt through an action, of which there is a row. */
  readonly attempt?: Concluded
}

/**
 * Sends of replays of many requests. A lane is a replay. Through an action they are guests: they keep its bounds, come
 * after its deliveries, and change nothing of it.
 */
export const REHEARSAL_SENDS: Adapter<RehearsalSend, RehearsalResult> = {
  kind: 'rehearsal',
  queue: REPLAY_LANES,
  idsOf: ({ item: { requestId, position } }) => ({ requestId, position }),

  async look(services, trx, lane, room) {
    const row = await lockRunning(services, trx, lane)
    if (row === undefined) return NOTHING
    const now = services.clock.now()
    const options = storedOptions(row.options)
    const progress = await progressOf(trx, { id: row.id, options }, now)
    if (progress === undefined) return NOTHING
    if (progress.isSealed) return { sends: [], nextInMs: SEALED_MS }
    if (isOver(progress)) {
      await endReplay(trx, services, row)
      return NOTHING
    }
    const leaseInMs = progress.leaseEndsAt === null ? null : progress.leaseEndsAt.getTime() - now.getTime()
    const free = options.concurrency - progress.underWay
    if (free <= 0 || progress.dueMs === null) return { sends: [], nextInMs: leaseInMs }
    const baseAt = baseOf(row, progress.dueMs, now)
    const waitMs = baseAt + progress.dueMs - now.getTime() - room.leadMs
    if (waitMs > AHEAD_MS) return { sends: [], nextInMs: Math.min(earlier(waitMs), leaseInMs ?? waitMs) }
    const sending = await findSending(services, trx, row, options, progress)
    if (typeof sending === 'string') {
      // Its last answers come first.
      if (progress.underWay > 0) return { sends: [], nextInMs: leaseInMs }
      await endReplay(trx, services, row, sending)
      return NOTHING
    }
    const { action } = sending
    const most = { ...room, slots: Math.min(room.slots, free) }
    const starts =
      action === null
        ? { limit: most.slots, firstAt: 0, spacingMs: 0, isStrict: false }
        : await admitGuests(services, trx, action.id, most)
    if (typeof starts === 'number') return { sends: [], nextInMs: starts }
    return await claim(services, trx, { row, baseAt, now, leadMs: room.leadMs, starts, sending, progress })
  },

  async send(services, { item, sending }, signal, ready) {
    try {
      if (item.attempts > LOST_MAX) return { answered: null, end: failedEnd('interrupted') }
      const captured = await findCaptured(services.db, sending.endpoint.id, item.requestId)
      const prepared = await prepare(services, sending, item, captured)
      if (captured === undefined || 'error' in prepared)
        return { answered: null, end: failedEnd('error' in prepared ? prepared.error : 'request_gone') }
      const message = { ...prepared, sealing: keyOfRow(captured), redaction: captured.redaction }
      const { attempt, result } = await makeSend(services, sending, item, message, { signal, ready })
      if (signal.aborted && result.received === null) return { answered: null, end: CUT_OFF }
      const replay = { endpointId: sending.endpoint.id, options: sending.options }
      return {
        answered: result.sent === null ? null : result.received !== null,
        durationMs: result.durationMs,
        end: await answeredEnd(services.db, replay, item, receivedOf(result)),
        ...(sending.action === null ? {} : { attempt: conclude(services, { attempt, result }) }),
      }
    } catch (err) {
      const code = err instanceof DomainError ? err.code : undefined
      // It was deleted, or erased, while the send was prepared.
      if (code === 'not_found') return { answered: null, end: failedEnd('request_gone') }
      // A passing error, or the stored request changed meanwhile (`unavailable`): the send is made again when its lease
      // ends.
      if (isPassing(err) || code === 'unavailable') throw err
      services.log.error({ err, replayId: item.replayId }, 'a send of a replay failed')
      return { answered: null, end: failedEnd('internal_error') }
    }
  },

  async record(services, trx, ended) {
    await finishSends(services, trx, ended.map(endedItem))
    await finishGuests(services, trx, attemptsOf(ended))
    const dueAt = services.clock.now()
    return ended.map(({ lane }) => ({ ...lane, dueAt }))
  },

  async recordAlone(services, ended) {
    if (attemptsOf(ended).length > 0) return false
    await finishSends(services, services.db, ended.map(endedItem))
    return true
  },

  recorded: (services, ended) => tellGuests(services, attemptsOf(ended)),

  async reserve(services, { id }, place) {
    const row = await services.db
      .selectFrom('replays')
      .where('id', '=', id)
      .select('actionId')
      .executeTakeFirst()
    return row?.actionId ? await reserveStart(services, row.actionId, place) : null
  },

  waiting: async (db, now) => (await run(db, WAITING, [now]))[0],

  // Each that is under way gets a look now and then: a replay is a few rows.
  find: async (db, which) => await run(db, FIND, ['dueBefore' in which ? null : which.workspaceId]),
}

const endedItem = ({ send: { item, sending }, outcome: { end } }: Ended<RehearsalSend, RehearsalResult>) => ({
  endpointId: sending.endpoint.id,
  item,
  end,
})

const attemptsOf = (ended: readonly { readonly outcome: RehearsalResult }[]): Concluded[] =>
  ended.flatMap(({ outcome }) => outcome.attempt ?? [])

/** Locks a replay that runs. One that waits begins to run if its workspace has room for it. */
async function lockRunning(
  { clock }: Pick<Services, 'clock'>,
  trx: Trx,
  { id, workspaceId }: Lane,
): Promise<RunRow | undefined> {
  // The service sends no replay that is for listeners.
  const lockSent = (state: 'running' | 'queued') =>
    lockRun(trx, id).where('state', '=', state).where('listenedAt', 'is', null).executeTakeFirst()
  const running = await lockSent('running')
  if (running !== undefined) return running
  // Before the replay, as a call that changes its state does.
  await lockWorkspace(trx, workspaceId)
  const row = await lockSent('queued')
  if (row === undefined) return undefined
  if (row.requestCount > 1 && !(await hasRoom(trx, workspaceId))) return undefined
  const changes = { state: 'running' as const, startedAt: row.startedAt ?? clock.now() }
  await updateRun(trx, id, changes)
  return { ...row, ...changes }
}

/** Time of offset 0, in milliseconds. It moves on after a hold-up, so that the distances between sends stay. */
function baseOf({ baseAt }: RunRow, dueMs: number, now: Date): number {
  const latest = now.getTime() - dueMs
  return baseAt === null || baseAt.getTime() < latest - BEHIND_MS_MAX ? latest : baseAt.getTime()
}

const earlier = (waitMs: number): number => (waitMs > JOB_MS.after ? waitMs - JOB_MS.earlier : waitMs)

/** Finds endpoint and action of the sends; a reason if one is gone. */
async function findSending(
  { plans }: Pick<Services, 'plans'>,
  trx: Trx,
  row: RunRow,
  options: ReplayOptions,
  { plan }: Progress,
): Promise<Sending | string> {
  const endpoint = await findPermitting(trx, row)
  if (typeof endpoint === 'string') return endpoint
  const { id, workspaceId } = row
  const base = { id, workspaceId, options, endpoint, plan: planOf(plans, plan) }
  if (!('actionId' in options.to)) return { ...base, action: null }
  const action = await findAction(trx, endpoint.id, options.to.actionId)
  if (action === undefined || !isOn(action)) return 'action_off'
  return action.pausedAt === null ? { ...base, action } : 'action_paused'
}

interface Going {
  readonly row: RunRow
  readonly baseAt: number
  readonly now: Date
  readonly leadMs: number
  readonly starts: GuestStarts
  readonly sending: Sending
  readonly progress: Progress
}

async function claim(
  { clock }: Pick<Services, 'clock'>,
  trx: Trx,
  { row, baseAt, now, leadMs, starts, sending, progress }: Going,
): Promise<Look<RehearsalSend>> {
  const { limit, firstAt, spacingMs, isStrict } = starts
  const { options, action } = sending
  const seconds = options.timeoutSeconds ?? storedPolicy(action?.deliveryPolicy ?? null).timeoutSeconds
  const leaseEndsAt = new Date(now.getTime() + (seconds ?? TIMEOUT_SECONDS) * 1000 + LEASE_GRACE_MS)
  const elapsedMs = now.getTime() - baseAt + leadMs + AHEAD_MS
  const items = await claimItems(trx, sending, { now, elapsedMs, limit, leaseEndsAt })
  if (row.baseAt?.getTime() !== baseAt) await updateRun(trx, row.id, { baseAt: new Date(baseAt) })
  const clockAt = progress.clockAt.getTime() + aheadMs(clock)
  // Each start is due by its own time, and a spacing after the one before.
  let nextStartAt = firstAt
  const sends = items.map((item) => {
    const at = Math.max(clockAt + baseAt + item.dueMs - now.getTime(), nextStartAt)
    nextStartAt = at + spacingMs
    return {
      item,
      sending,
      bytes: item.bytes ?? 0,
      leaseUntil: leaseEndsAt,
      start: { at, spacingMs, isStrict },
    }
  })
  if (action !== null && spacingMs > 0 && items.length > 0) await startGuests(trx, action.id, nextStartAt)
  const nextDueMs = items[0]?.nextDueMs ?? null
  if (nextDueMs === null || progress.underWay + items.length >= options.concurrency)
    return { sends, clockAt, nextInMs: leaseEndsAt.getTime() - now.getTime() }
  const nextAt = Math.max(clockAt + baseAt + nextDueMs - now.getTime(), nextStartAt)
  return { sends, clockAt, nextInMs: earlier(Math.max(0, nextAt - clockAt - leadMs)) }
}
