import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../api/context.ts'
import { notFound } from '../api/errors.ts'
import { recordChange } from '../audit/index.ts'
import { findContactIds } from '../contacts/index.ts'
import { storedCondition } from '../engine/conditions/index.ts'
import { type InputIssue, issue } from '../engine/issues.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'
import { RECHECK_AFTER_MS, readHistory, watchdogChange } from './create.ts'
import { criteriaText, matchOf, parseMatch } from './match.ts'
import { criteriaFor, deleteUnusedCriteria, findWatchdog, listOutages, type WatchdogRow } from './queries.ts'
import {
  changeMatch,
  changeSchedule,
  type Outage,
  type Step,
  setPaused,
  type WatchdogClock,
} from './rules.ts'
import type { CreateInput, UpdateInput } from './schema.ts'
import { type Change, changeWatchdog } from './settle.ts'
import { contactIdsOf, watchdogView } from './view.ts'

/** Checks of a watchdog's members that the schema cannot express. */
export async function checkWatchdogInput(
  ctx: Context,
  input: Partial<CreateInput> | Partial<UpdateInput>,
  stored?: WatchdogRow,
): Promise<InputIssue[]> {
  const issues: InputIssue[] = []
  if (stored !== undefined && input.endpointId !== undefined && input.endpointId !== stored.endpointId) {
    issues.push(issue(['endpointId'], 'not_allowed', 'endpointId is fixed when the watchdog is created.'))
  }
  const match = parseMatch(input.match, ctx.rawBody)
  if ('issues' in match) issues.push(...match.issues)
  issues.push(...(await unknownContacts(ctx, input.alertContactIds, stored)))
  return issues
}

/**
 * Checks that contacts exist. A list equal to the stored one is not checked again, because one of its contacts may have
 * been deleted since.
 */
async function unknownContacts(
  ctx: Context,
  ids: readonly string[] | undefined,
  stored: WatchdogRow | undefined,
): Promise<InputIssue[]> {
  if (ids === undefined || ids.length === 0) return []
  if (stored !== undefined && isDeepStrictEqual(ids, contactIdsOf(stored))) return []
  const known = new Set(await findContactIds(ctx.db, ctx.workspace.id))
  return ids.flatMap((id, index) => {
    const detail = `"${id.slice(0, 40)}" is not a contact of this workspace.`
    return known.has(id) ? [] : [issue(['alertContactIds', index], 'unknown_value', detail)]
  })
}

/** Changes the given members of a watchdog and recomputes its deadlines. */
export async function updateWatchdogMembers(ctx: Context, known: WatchdogRow, input: UpdateInput) {
  for (let stored = known; ; ) {
    const { newer, view } = await changeMembers(ctx, stored, input)
    if (newer === undefined) return view
    stored = newer
  }
}

/** Only returns the row if another change of its match came first, because the history that was read is of a match. */
async function changeMembers(ctx: Context, known: WatchdogRow, input: UpdateInput) {
  const now = ctx.clock.now()
  const condition = input.match === undefined ? undefined : matchOf(parseMatch(input.match, ctx.rawBody))
  const matchChanged =
    condition !== undefined && criteriaText(condition) !== criteriaText(storedCondition(known.match))
  const history = matchChanged ? await readHistory(ctx, known.endpointId, condition) : null
  const readAt = ctx.clock.now()

  const step = (clock: WatchdogClock, outages: readonly Outage[]): Step => {
    const schedule = {
      expectedIntervalSeconds: input.expectedIntervalSeconds ?? clock.expectedIntervalSeconds,
      graceSeconds: input.graceSeconds ?? clock.graceSeconds,
    }
    if (history === null) return changeSchedule(clock, schedule, now, outages)
    const changed = changeMatch({ ...clock, ...schedule }, history.match, now, outages)
    return { ...changed, clock: { ...changed.clock, settledRequestId: history.settledRequestId } }
  }

  return await ctx.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, ctx.workspace.id)
    const stored = await findWatchdog(trx, ctx.workspace.id, known.id, now)
    if (stored === undefined) throw notFound('watchdog')
    if (condition !== undefined && stored.match !== known.match) return { newer: stored }
    const criteriaId = matchChanged
      ? (await criteriaFor(trx, stored.endpointId, criteriaText(condition))).id
      : stored.criteriaId
    const exists = await changeWatchdog(ctx, trx, stored.id, {
      step,
      settings: {
        ...(input.name === undefined ? {} : { name: input.name }),
        ...(condition === undefined ? {} : { match: condition.text }),
        ...(input.alertContactIds === undefined
          ? {}
          : { alertContactIds: JSON.stringify(input.alertContactIds) }),
        ...(matchChanged ? { criteriaId, recheckAt: new Date(readAt.getTime() + RECHECK_AFTER_MS) } : {}),
      },
    })
    if (!exists) throw notFound('watchdog')
    if (matchChanged) await deleteUnusedCriteria(trx, stored.criteriaId)
    if (input.active !== undefined) await changeWatchdog(ctx, trx, stored.id, switchTo(ctx, input.active))
    await announceEndpointChange(trx, stored.endpointId)
    const row = await findWatchdog(trx, ctx.workspace.id, stored.id, now)
    if (row === undefined) throw notFound('watchdog')
    await recordChange(trx, ctx, watchdogChange('watchdogs.update', stored, row))
    return { view: watchdogView(row, now, await listOutages(trx)) }
  })
}

/** Pauses or resumes a watchdog; resuming arms it from now. */
export async function setWatchdogActive(ctx: Context, stored: WatchdogRow, active: boolean) {
  const now = ctx.clock.now()
  return await ctx.db.transaction().execute(async (trx) => {
    await changeWatchdog(ctx, trx, stored.id, switchTo(ctx, active))
    await announceEndpointChange(trx, stored.endpointId)
    const row = await findWatchdog(trx, ctx.workspace.id, stored.id, now)
    if (row === undefined) throw notFound('watchdog')
    await recordChange(trx, ctx, watchdogChange('watchdogs.setActive', stored, row))
    return watchdogView(row, now, await listOutages(trx))
  })
}

function switchTo(ctx: Context, active: boolean): Change {
  const now = ctx.clock.now()
  return { step: (clock) => setPaused(clock, { active }, now) }
}
