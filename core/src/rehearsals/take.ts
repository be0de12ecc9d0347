import { setTimeout as sleep } from 'node:timers/promises'
import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import { notAllowed } from '../api/errors.ts'
import { requireStays } from '../api/seal.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { wireField } from '../engine/message/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { waitForChanges } from '../streams/index.ts'
import { endReplay } from './control.ts'
import {
  ANSWER_BYTES_MAX,
  ANSWER_GRACE_MS,
  GIVEN_BYTES_MAX,
  LISTENER_TIMEOUT_SECONDS,
  WAITING_TAKES_MAX,
} from './declarations.ts'
import { answeredEnd, CUT_OFF, failedEnd, finishSends } from './finish.ts'
import { storedOptions } from './options.ts'
import { outgoingView, type Preparing, prepare } from './prepare.ts'
import {
  claimItems,
  findCaptured,
  findPermitting,
  isOver,
  lockRun,
  NO_POSITION,
  progressOf,
  type RunRow,
  updateRun,
} from './queries.ts'
import type { answerInput, Taken, takeInput } from './schema.ts'

/** Least time between two looks of a call that waits, unless a request is due, so that captures cost few looks. */
const LOOK_PAUSE_MS = 250

/**
 * Gives a listener the requests that are due now. Waits for the next one if asked to, without a database connection. A
 * listener has as many requests under way as the concurrency of the replay. One that is not answered while its lease
 * lasts is given again.
 *
 * @throws DomainError `validation_failed` for a replay that is not for listeners; `rate_limited` over the waiting calls
 *   of the key; `unauthorized` when the key is revoked while it waits
 */
export async function takeItems(
  ctx: Context,
  endpoint: EndpointRow,
  row: RunRow,
  { max, waitSeconds }: Pick<z.output<typeof takeInput>, 'max' | 'waitSeconds'>,
): Promise<z.input<typeof Taken>> {
  const options = storedOptions(row.options)
  if (!('listeners' in options.to))
    throw notAllowed(
      ['replayId'],
      'This replay is sent by the service. Only one with to.listeners can be taken.',
    )
  const replay = { id: row.id, options, endpoint }
  if (waitSeconds === 0) return (await look(ctx, replay, max)).taken
  const noun = 'calls of this key that wait for requests of replays'
  const of = { kind: 'take', max: WAITING_TAKES_MAX, seconds: waitSeconds, noun }
  return await waitForChanges(ctx, endpoint.id, of, async ({ changes, ended, throwIfRefused }) => {
    for (;;) {
      // Before the look, whose claims would be lost.
      throwIfRefused()
      const { taken, isOver, nextInMs } = await look(ctx, replay, max)
      if (taken.items.length > 0 || isOver || ended.aborted) return taken
      const lookedAt = performance.now()
      await changes.next(nextInMs)
      const pauseMs = Math.min(LOOK_PAUSE_MS, nextInMs ?? LOOK_PAUSE_MS) - (performance.now() - lookedAt)
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: ended }).catch(() => undefined)
    }
  })
}

/**
 * Takes the requests for a listener that are due.
 *
 * @returns `isOver`: whether waiting for more is of no use; `nextInMs`: when there may be more, undefined for after a
 *   change
 */
async function look(ctx: Context, replay: Preparing, max: number) {
  const due = await ctx.db.transaction().execute((trx) => claimDue(trx, ctx, replay, max))
  // The next call finds where it is: the workspace may be in another cell by now.
  if (due === undefined) return { taken: { items: [], state: 'running' as const }, isOver: true }
  const { state, claimed, nextInMs } = due
  const endpointId = replay.endpoint.id
  const items = []
  const ended = []
  let bytes = 0
  for (const item of claimed) {
    const captured = bytes > GIVEN_BYTES_MAX ? null : await findCaptured(ctx.db, endpointId, item.requestId)
    const prepared = captured === null ? null : await prepare(ctx, replay, item, captured)
    if (prepared !== null && 'error' in prepared) {
      ended.push({ endpointId, item, end: failedEnd(prepared.error) })
      continue
    }
    bytes += prepared?.request.body.length ?? 0
    // Only an edit leads to more bytes than were claimed. A request without room is given to a later call.
    if (prepared === null || (items.length > 0 && bytes > GIVEN_BYTES_MAX))
      ended.push({ endpointId, item, end: CUT_OFF })
    else items.push(outgoingView(replay.id, item, prepared))
  }
  if (ended.length > 0) await finishSends(ctx, ctx.db, ended)
  const isOver = state !== 'running' && state !== 'paused' && state !== 'queued'
  // Requests that cannot be sent have ended already.
  return { taken: { items, state }, isOver, nextInMs: items.length < claimed.length ? 0 : nextInMs }
}

/**
 * Claims sends whose time has come, as many as may be under way beside those that are, or ends the replay.
 *
 * @returns undefined if the replay is gone
 */
async function claimDue(trx: Trx, ctx: Context, replay: Preparing, max: number) {
  const { id, options } = replay
  const row = await lockRun(trx, id).executeTakeFirst()
  if (row === undefined) return undefined
  const { state } = row
  const nothing = { claimed: [], nextInMs: undefined }
  if (state !== 'running') return { state, ...nothing }
  const now = ctx.clock.now()
  const progress = await progressOf(trx, replay, now)
  if (progress === undefined) return undefined
  if (isOver(progress)) {
    await endReplay(trx, ctx, row)
    await requireStays(ctx, trx, ctx.workspace.id)
    return { state: 'done' as const, ...nothing }
  }
  const { dueMs, underWay, leaseEndsAt: firstEndsAt, isSealed } = progress
  // While nothing can begin, the next send is unknown, by whose time a replay that was resumed goes on.
  const baseAt = row.baseAt ?? (dueMs === null ? null : new Date(now.getTime() - dueMs))
  await updateRun(trx, id, { baseAt, listenedAt: now })
  // While a workspace is about to be in another cell, nothing of it begins.
  if (isSealed) return { state, ...nothing }
  const leaseInMs = firstEndsAt === null ? undefined : Math.max(0, firstEndsAt.getTime() - now.getTime())
  const endpoint = await findPermitting(trx, row)
  if (typeof endpoint === 'string') {
    // Its last answers come first.
    if (underWay > 0) return { state, claimed: [], nextInMs: leaseInMs }
    await endReplay(trx, ctx, row, endpoint)
    await requireStays(ctx, trx, ctx.workspace.id)
    return { state: 'failed' as const, ...nothing }
  }
  const limit = Math.min(max, options.concurrency - underWay)
  if (baseAt === null || dueMs === null || limit <= 0) return { state, claimed: [], nextInMs: leaseInMs }
  const elapsedMs = now.getTime() - baseAt.getTime()
  const timeoutMs = (options.timeoutSeconds ?? LISTENER_TIMEOUT_SECONDS) * 1000 + ANSWER_GRACE_MS
  const leaseEndsAt = new Date(now.getTime() + timeoutMs)
  const bytesMax = GIVEN_BYTES_MAX
  const claimed = await claimItems(trx, replay, { now, elapsedMs, limit, leaseEndsAt, bytesMax })
  if (claimed.length > 0) await requireStays(ctx, trx, ctx.workspace.id)
  const nextInMs = Math.min(Math.max(0, dueMs - elapsedMs), leaseInMs ?? Number.POSITIVE_INFINITY)
  return { state, claimed, nextInMs }
}

/** Ends a running replay after its last send; else notes that a listener was heard. */
async function endIfOver(trx: Trx, ctx: Context, id: string): Promise<void> {
  const locked = await lockRun(trx, id).executeTakeFirst()
  if (locked?.state !== 'running') return
  const now = ctx.clock.now()
  const progress = await progressOf(trx, { id, options: storedOptions(locked.options) }, now)
  if (progress !== undefined && isOver(progress)) await endReplay(trx, ctx, locked)
  else await updateRun(trx, id, { listenedAt: now })
}

/** Stores what a listener's server answered, and ends the replay after the last answer. */
export async function answerItem(
  ctx: Context,
  endpoint: EndpointRow,
  row: RunRow,
  { position, durationMs, error, received }: z.output<typeof answerInput>,
): Promise<null> {
  const item = await ctx.db
    .selectFrom('replayItems')
    .where('replayId', '=', row.id)
    .where('position', '=', Math.min(position, NO_POSITION))
    .where('state', '=', 'sending')
    .selectAll()
    .executeTakeFirst()
  if (item === undefined)
    throw notAllowed(['position'], 'This request is not under way: it was not taken, or is answered.')
  const body = Buffer.from(received?.body ?? '', 'base64')
  const replay = { endpointId: endpoint.id, options: storedOptions(row.options) }
  const end = await answeredEnd(ctx.db, replay, item, {
    statusCode: received?.statusCode ?? null,
    headers: (received?.headers ?? []).map(wireField),
    body,
    // A listener cuts what is longer.
    isCut: body.length >= ANSWER_BYTES_MAX,
    durationMs,
    error: received === undefined ? (error ?? 'no_answer') : null,
  })
  await ctx.db.transaction().execute(async (trx) => {
    await finishSends(ctx, trx, [{ endpointId: endpoint.id, item, end }])
    await endIfOver(trx, ctx, row.id)
    await requireStays(ctx, trx, ctx.workspace.id)
  })
  // Other calls wait for room, for the second of a pair, or for the end.
  ctx.endpointChanges.announce([endpoint.id])
  return null
}
