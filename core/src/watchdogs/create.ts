import { randomUUID } from 'node:crypto'
import type { Context } from '../api/context.ts'
import { notFound } from '../api/errors.ts'
import { requireRoom } from '../api/planGates.ts'
import { changeOf, recordChange } from '../audit/index.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import type { Condition } from '../engine/conditions/index.ts'
import { shownJson } from '../engine/json/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { newestRequestId, searchNewest } from '../requests/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'
import { criteriaText, matchOf, parseMatch } from './match.ts'
import {
  clockColumns,
  countWatchdogs,
  criteriaFor,
  findWatchdog,
  insertWatchdog,
  lastNotedRequest,
  listOutages,
  type WatchdogRow,
} from './queries.ts'
import { arm, defaultGraceSeconds, type Match } from './rules.ts'
import type { CreateInput } from './schema.ts'
import { contactIdsOf, watchdogView } from './view.ts'

/** A watchdog's change for the audit log: its settings, without the state of its clock. */
export function watchdogChange(action: string, before: WatchdogRow | null, after: WatchdogRow | null) {
  return changeOf(['watchdog', action], before, after, settingsOf)
}

function settingsOf(row: WatchdogRow) {
  const { id, endpointId, name, active, pausedByPlan, expectedIntervalSeconds, graceSeconds } = row
  const own = { id, endpointId, name, active, pausedByPlan, expectedIntervalSeconds, graceSeconds }
  return { ...own, match: shownJson(row.match), alertContactIds: contactIdsOf(row) }
}

/** Delay after which every capture is evaluated by new criteria; see `recheckHistories`. */
export const RECHECK_AFTER_MS = 10_000

/**
 * Reads the stored history for criteria: the newest match, and the request id up to which the history is settled. A
 * match that was noted earlier but is no longer stored is not part of the history.
 *
 * @throws LineTooLong when earlier searches of the workspace take too long
 */
export async function readHistory(
  ctx: Context,
  endpointId: string,
  condition: Condition,
): Promise<{ match: Match | null; settledRequestId: number }> {
  // Read first: a match that is noted while the history is read is newer, and must still count.
  const noted = await lastNotedRequest(ctx.db, endpointId, criteriaText(condition))
  const stored = await newestRequestId(ctx.db, endpointId)
  const match = await searchNewest(ctx, endpointId, condition)
  return { match: match ?? null, settledRequestId: Math.max(noted, stored, match?.requestId ?? 0) }
}

/**
 * Creates a watchdog, armed at once on the endpoint's history.
 *
 * @throws DomainError `limit_reached`, or `feature_not_in_plan` when the plan has no watchdogs
 * @throws DomainError `not_found` when the endpoint has expired
 */
export async function createWatchdog(ctx: Context, endpoint: EndpointRow, input: CreateInput) {
  const now = ctx.clock.now()
  if (endpoint.expiresAt !== null && endpoint.expiresAt <= now) throw notFound('endpoint')
  const condition = matchOf(parseMatch(input.match, ctx.rawBody))
  // Asked again under the lock. A workspace without room has no history read.
  requireRoom(ctx.plan, 'watchdogsMax', await countWatchdogs(ctx.db, ctx.workspace.id, now), 'watchdogs')
  const history = await readHistory(ctx, endpoint.id, condition)
  const readAt = ctx.clock.now()
  const settings = {
    active: input.active ?? true,
    pausedByPlan: false,
    expectedIntervalSeconds: input.expectedIntervalSeconds,
    graceSeconds: input.graceSeconds ?? defaultGraceSeconds(input.expectedIntervalSeconds),
  }
  const clock = { ...arm(settings, history.match, now), settledRequestId: history.settledRequestId }
  const id = randomUUID()

  return await ctx.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, ctx.workspace.id)
    requireRoom(ctx.plan, 'watchdogsMax', await countWatchdogs(trx, ctx.workspace.id, now), 'watchdogs')
    const criteria = await criteriaFor(trx, endpoint.id, criteriaText(condition))
    const outages = await listOutages(trx)
    await insertWatchdog(trx, {
      ...clockColumns(clock, outages),
      id,
      workspaceId: ctx.workspace.id,
      endpointId: endpoint.id,
      criteriaId: criteria.id,
      name: input.name ?? endpoint.name,
      match: condition.text,
      alertContactIds: JSON.stringify(input.alertContactIds ?? []),
      recheckAt: new Date(readAt.getTime() + RECHECK_AFTER_MS),
      createdAt: now,
    })
    await announceEndpointChange(trx, endpoint.id)
    const row = await findWatchdog(trx, ctx.workspace.id, id, now)
    if (row === undefined) throw notFound('endpoint')
    await recordChange(trx, ctx, watchdogChange('watchdogs.create', null, row))
    return watchdogView(row, now, outages)
  })
}
