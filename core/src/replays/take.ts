import { setTimeout as delay } from 'node:timers/promises'
import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import { validationFailed } from '../api/errors.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { ANSWER_BYTES_MAX } from './bounds.ts'
import { endReplay } from './control.ts'
import { failSend, finishSend } from './finish.ts'
import { sendsInPairs, storedOptions } from './options.ts'
import { outgoingView, type Preparing, prepare } from './prepare.ts'
import {
  claimItems,
  findCaptured,
  findReplay,
  type ItemRow,
  lockReplay,
  nextDue,
  type ReplayRow,
  updateReplay,
} from './queries.ts'
import { type answerInput, REPLAY_STATES, type Taken, type takeInput } from './schema.ts'

/** Time between two looks of a call that waits for a pause to end. */
const LOOK_MS = 250

/**
 * Gives a listener the requests that are due now, each once. Waits for the next one if asked to. A listener has as many
 * requests under way as the concurrency of the replay.
 *
 * @throws DomainError `validation_failed` for a replay that is not for listeners
 */
export async function takeItems(
  ctx: Context,
  endpoint: EndpointRow,
  row: ReplayRow,
  { max, waitSeconds }: Pick<z.output<typeof takeInput>, 'max' | 'waitSeconds'>,
): Promise<z.input<typeof Taken>> {
  const options = storedOptions(row.options)
  if (!('listeners' in options.to)) throw refusedAsSent()
  await noteListener(ctx, row)
  const until = performance.now() + waitSeconds * 1000
  const ended = AbortSignal.any([ctx.signal, ctx.stopping])
  for (;;) {
    const now = await findReplay(ctx.db, endpoint.id, row.id)
    const state = REPLAY_STATES.find((known) => known === now?.state) ?? 'failed'
    const isOver = state !== 'running' && state !== 'paused' && state !== 'queued'
    const replay = { id: row.id, options, endpoint }
    const claimed = now === undefined || state !== 'running' ? [] : await claimDue(ctx, now, replay, max)
    const items = []
    for (const item of claimed) {
      const taken = await takeOne(ctx, replay, item)
      if (taken !== undefined) items.push(taken)
    }
    if (items.length > 0 || isOver || performance.now() >= until || ended.aborted) return { items, state }
    if (state === 'running' && (await endIfDone(ctx, row))) continue
    await delay(LOOK_MS / 5, undefined, { signal: ended }).catch(() => undefined)
  }
}

/** Claims sends whose time has come, as many as may be under way beside those that are. */
async function claimDue(
  { db, clock }: Context,
  { id, baseAt }: ReplayRow,
  { options }: Pick<Preparing, 'options'>,
  max: number,
): Promise<ItemRow[]> {
  const { count } = await db
    .selectFrom('replayItems')
    .where('replayId', '=', id)
    .where('state', '=', 'sending')
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const limit = Math.min(max, options.concurrency - count)
  if (limit <= 0) return []
  const holder = { replayId: id, leaseId: null, inPairs: sendsInPairs(options) }
  const now = clock.now()
  let start = baseAt
  if (start === null) {
    const next = await nextDue(db, holder)
    start = new Date(now.getTime() - (next?.dueMs ?? 0))
    await updateReplay(db, id, { baseAt: start })
  }
  return await claimItems(db, holder, { now, elapsedMs: now.getTime() - start.getTime(), limit })
}

async function takeOne(
  ctx: Context,
  replay: Preparing,
  item: ItemRow,
): Promise<ReturnType<typeof outgoingView> | undefined> {
  const captured = await findCaptured(ctx.db, replay.endpoint.id, item.requestId)
  const prepared = await prepare(ctx, replay, item, captured)
  if ('request' in prepared) return outgoingView(replay.id, item, prepared)
  await failSend(ctx, item, prepared.error)
  return undefined
}

/** Stores what a listener's server answered, and ends the replay after the last answer. */
export async function answerItem(
  ctx: Context,
  endpoint: EndpointRow,
  row: ReplayRow,
  { position, durationMs, error, received }: z.output<typeof answerInput>,
): Promise<null> {
  const item = await ctx.db
    .selectFrom('replayItems')
    .where('replayId', '=', row.id)
    .where('position', '=', position)
    .where('state', '=', 'sending')
    .selectAll()
    .executeTakeFirst()
  if (item === undefined)
    throw validationFailed([
      {
        path: ['position'],
        code: 'not_allowed',
        detail: 'This request is not under way: it was not taken, or is answered.',
      },
    ])
  const body = Buffer.from(received?.body ?? '', 'base64')
  await finishSend(ctx, { endpointId: endpoint.id, options: storedOptions(row.options) }, item, {
    statusCode: received?.statusCode ?? null,
    headers: (received?.headers ?? []).map(({ name, value }) => [
      name,
      Buffer.from(value, 'utf8').toString('latin1'),
    ]),
    body,
    // A listener cuts what is longer.
    isCut: body.length >= ANSWER_BYTES_MAX,
    durationMs,
    error: received === undefined ? (error ?? 'no_answer') : null,
  })
  await noteListener(ctx, row)
  await endIfDone(ctx, row)
  return null
}

/** Notes that a listener of the replay is there. */
async function noteListener({ db, clock }: Context, { id }: ReplayRow): Promise<void> {
  await updateReplay(db, id, { dueAt: clock.now() })
}

async function endIfDone(ctx: Context, { id }: ReplayRow): Promise<boolean> {
  return await ctx.db.transaction().execute(async (trx) => {
    const row = await lockReplay(trx, id)
    if (row === undefined || row.state !== 'running') return false
    const left = await trx
      .selectFrom('replayItems')
      .where('replayId', '=', id)
      .where('state', 'in', ['waiting', 'sending'])
      .select('position')
      .limit(1)
      .executeTakeFirst()
    if (left !== undefined) return false
    await endReplay(trx, ctx, row, { state: 'done', reason: null })
    return true
  })
}

const refusedAsSent = () =>
  validationFailed([
    {
      path: ['replayId'],
      code: 'not_allowed',
      detail: 'This replay is sent by the service. Only one with to.listeners can be taken.',
    },
  ])
