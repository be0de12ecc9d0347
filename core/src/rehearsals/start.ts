import { randomInt, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { z } from 'zod'
import { findAction } from '../actions/index.ts'
import type { Context } from '../api/context.ts'
import { notAllowed, validationFailed } from '../api/errors.ts'
import { recordChange } from '../audit/index.ts'
import { storedPolicy } from '../deliveries/index.ts'
import { queueLanes } from '../dispatch/index.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import type { Db } from '../platform/db/index.ts'
import { applyFilters, searching, visibleRequests } from '../requests/index.ts'
import { admitRun } from '../runs/index.ts'
import { forwardActions, tooLong } from './check.ts'
import {
  ENDED_KEPT,
  GIVEN_BYTES_MAX,
  REPLAY_LANES,
  REQUESTS_MAX,
  SHOWN_MAX,
  UNFINISHED_MAX,
} from './declarations.ts'
import { baselineAction, optionsText, storedOptions } from './options.ts'
import { outgoingView, prepare } from './prepare.ts'
import { findCaptured, insertRun, type RunRow } from './queries.ts'
import { randomOf, type Schedule, sampleOf, scheduleOf } from './schedule.ts'
import type { Started, StartInput } from './schema.ts'
import { readView } from './view.ts'

const SEED_MAX = 4_294_967_295

const REPLAYS = {
  table: 'replays',
  unfinishedMax: UNFINISHED_MAX,
  refusal: `At most ${UNFINISHED_MAX} replays of a workspace may run, wait or be paused.`,
  endedKept: { of: 'workspace_id', count: ENDED_KEPT },
} as const

/**
 * Plans a replay and queues it: the replay, its sends, its job and its audit entry, in one transaction. A dry run only
 * plans.
 *
 * @throws DomainError `validation_failed` if nothing matches or the replay would take too long, `rate_limited` while too
 *   many replays of the workspace are not done
 */
export async function startReplay(
  ctx: Context,
  endpoint: EndpointRow,
  input: StartInput,
): Promise<z.input<typeof Started>> {
  const seed = input.seed ?? randomInt(SEED_MAX)
  const { captured, matchedCount } = await searching(ctx, `replay ${endpoint.id}`, (db) =>
    selectRequests(db, endpoint.id, input.select, randomOf(seed)),
  )
  if (captured.length === 0)
    throw notAllowed(['select'], 'No stored request matches. Oversize traces are left out.')
  const schedule = scheduleOf(captured, {
    order: input.order,
    pace: input.pace ?? null,
    faults: input.faults ?? {},
    seed,
    gapMs: await gapOf(ctx, endpoint, input),
  })
  const plannedMs = schedule.items.at(-1)?.dueMs ?? 0
  const issues = tooLong(plannedMs)
  if (issues.length > 0) throw validationFailed(issues)
  const plan = {
    requestCount: captured.length,
    sendCount: schedule.items.length,
    droppedCount: schedule.dropped.length,
    plannedMs,
    seed,
  }
  if (input.dryRun === true) {
    const shown = await show(ctx, endpoint, input, schedule)
    const unsignedCount = shown.filter(({ error }) => error?.startsWith('unsigned') === true).length
    return { replay: null, ...plan, matchedCount, shown, unsignedCount }
  }
  const compare = await baselineOf(ctx, endpoint, input)
  const replay = await insert(ctx, endpoint, { ...input, compare }, schedule, plan)
  return { replay, ...plan, matchedCount, shown: [], unsignedCount: 0 }
}

/** The comparison with the action whose recorded answers count; later actions do not change it. */
async function baselineOf(
  ctx: Context,
  endpoint: EndpointRow,
  { compare, to }: StartInput,
): Promise<StartInput['compare']> {
  if (compare?.with !== 'recorded') return compare
  const [only] = await forwardActions(ctx.db, endpoint.id)
  return { ...compare, actionId: baselineAction({ compare, to }) ?? only?.id }
}

/** Least time between two sends by the policy of the action, in milliseconds. */
async function gapOf(ctx: Context, endpoint: EndpointRow, { to }: StartInput): Promise<number> {
  if (!('actionId' in to)) return 0
  const action = await findAction(ctx.db, endpoint.id, to.actionId)
  const { rate } = storedPolicy(action?.deliveryPolicy ?? null)
  return rate === null || rate === undefined ? 0 : (rate.perSeconds * 1000) / rate.count
}

async function show(ctx: Context, endpoint: EndpointRow, input: StartInput, { items }: Schedule) {
  const options = storedOptions(optionsText(input))
  const id = randomUUID()
  const shown = []
  let bytes = 0
  for (const [index, item] of items.slice(0, SHOWN_MAX).entries()) {
    const row = await findCaptured(ctx.db, endpoint.id, item.requestId)
    const prepared = await prepare(ctx, { id, options, endpoint }, item, row)
    bytes += 'error' in prepared ? 0 : prepared.request.body.length
    if (shown.length > 0 && bytes > GIVEN_BYTES_MAX) break
    shown.push(outgoingView(id, { ...item, position: index + 1 }, prepared))
  }
  return shown
}

async function insert(
  ctx: Context,
  endpoint: EndpointRow,
  input: StartInput,
  { items }: Schedule,
  plan: Pick<RunRow, 'requestCount' | 'sendCount' | 'droppedCount' | 'plannedMs' | 'seed'>,
) {
  const now = ctx.clock.now()
  const id = randomUUID()
  return await ctx.db.transaction().execute(async (trx) => {
    const { id: workspaceId } = ctx.workspace
    const isOne = plan.requestCount === 1
    await admitRun(trx, REPLAYS, {
      workspaceId,
      owner: workspaceId,
      among: sql`(request_count = 1) = ${isOne}`,
    })
    const isPulled = 'listeners' in input.to
    const row = await insertRun(
      trx,
      {
        id,
        workspaceId,
        endpointId: endpoint.id,
        actionId: 'actionId' in input.to ? input.to.actionId : null,
        // Listeners take their requests themselves.
        state: isPulled ? 'running' : 'queued',
        options: optionsText(input),
        ...plan,
        listenedAt: isPulled ? now : null,
        createdAt: now,
        startedAt: isPulled ? now : null,
      },
      items,
    )
    if (!isPulled) await queueLanes(ctx, trx, REPLAY_LANES, [{ id, workspaceId, dueAt: now }])
    const { select, to, order, pace, faults, sign, compare, concurrency } = input
    await recordChange(trx, ctx, {
      action: 'replays.start',
      workspaceId,
      subject: { type: 'endpoint', id: endpoint.id, name: endpoint.name },
      endpointId: endpoint.id,
      before: null,
      after: {
        replayId: id,
        requestCount: plan.requestCount,
        to,
        order,
        pace: pace ?? null,
        faults: faults ?? null,
        sign,
        compare: compare ?? null,
        concurrency,
        sample: select.sample ?? null,
      },
    })
    return await readView(trx, row)
  })
}

/** The most requests of which a sample is taken: the newest. */
const MATCHES_MAX = 100_000

/**
 * Chooses the requests of a replay, in the order of arrival, and counts those that match. Oversize traces are left out:
 * their bodies are not whole.
 */
async function selectRequests(
  db: Db,
  endpointId: string,
  { requestIds, filter, sample }: StartInput['select'],
  random: () => number,
) {
  let query = visibleRequests(db, endpointId).where('r.bodyTruncated', '=', false)
  if (requestIds !== undefined) query = query.where('r.id', 'in', requestIds)
  if (filter !== undefined) {
    const { label } = filter
    const prefix = label?.endsWith('*') === true ? label.slice(0, -1) : undefined
    query = applyFilters(query, prefix === undefined ? filter : { ...filter, label: undefined })
    if (prefix !== undefined) query = query.where(sql<boolean>`starts_with(r.label, ${prefix})`)
  }
  const rows = await query
    .select(['r.id', 'r.receivedAt'])
    .orderBy('r.id', 'desc')
    .limit(MATCHES_MAX)
    .execute()
  // Imported requests keep their times and have newer ids, so ids alone are not the order of arrival.
  const all = rows
    .map(({ id, receivedAt }) => ({ requestId: id, receivedAtMs: receivedAt.getTime() }))
    .sort((one, two) => one.receivedAtMs - two.receivedAtMs || one.requestId - two.requestId)
  const captured = sample === undefined ? all.slice(-REQUESTS_MAX) : sampleOf(all, sample, random)
  return { captured, matchedCount: all.length }
}
