import type { Updateable } from 'kysely'
import { listChannelStates } from '../alertChannels/index.ts'
import { closeIncidentsSilently } from '../alerts/index.ts'
import type { Context } from '../api/context.ts'
import { notFound, validationFailed } from '../api/errors.ts'
import { changeOf, recordChange } from '../audit/index.ts'
import {
  ACTION_INCIDENTS,
  applyPolicy,
  dropDeliveries,
  dropMost,
  flowSignal,
  forgetDelay,
  lockFlow,
  policyText,
  resumeDeliveries,
  wakeFlows,
} from '../deliveries/index.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { readCondition } from '../engine/conditions/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import type { ActionsTable, Trx } from '../platform/db/index.ts'
import { authColumns, lateIssues } from './auth.ts'
import { warningsMember } from './check.ts'
import { tellOfCertificates } from './checkCertificates.ts'
import { placed } from './create.ts'
import { isOn } from './dispatchActions.ts'
import {
  type ActionRow,
  findAction,
  fitActions,
  lockActions,
  numberActions,
  updateAction,
} from './queries.ts'
import type { UpdateInput } from './schema.ts'
import { schemeColumns, signingColumns } from './signing.ts'
import { tlsColumns } from './tls.ts'
import { actionView } from './view.ts'

/**
 * Changes the named members of an action. Switching it on resumes its waiting deliveries.
 * @throws DomainError `not_found` when it was deleted meanwhile, `validation_failed` when its credentials were changed
 *   meanwhile and the change does not fit them
 */
export async function changeAction(ctx: Context, endpoint: EndpointRow, seen: ActionRow, input: UpdateInput) {
  const { endpointId, id } = seen
  return await ctx.db.transaction().execute(async (trx) => {
    const { actions, stored } = await lockAction(trx, { endpointId, id })
    const misfits = stored.kind === 'forward' ? lateIssues(input, seen, stored) : []
    if (misfits.length > 0) throw validationFailed(misfits)
    await writeAction(ctx, trx, stored, changedColumns(ctx, stored, input))
    if (input.tls !== undefined) await tellOfCertificates(ctx, trx, stored.id)
    const ids = actions.map((action) => action.id)
    if (input.position !== undefined) await numberActions(trx, placed(ids, id, input.position))
    const { row, view } = await recordActionChange(ctx, trx, 'actions.update', stored)
    return { ...view, ...warningsMember(endpoint, row) }
  })
}

/** Records a change that was written. @throws DomainError `not_found` when the action was deleted meanwhile */
export async function recordActionChange(ctx: Context, trx: Trx, action: string, stored: ActionRow) {
  const row = await findAction(trx, stored.endpointId, stored.id)
  if (row === undefined) throw notFound('action')
  const channels = await listChannelStates({ ...ctx, db: trx }, ctx.workspace.id, ctx.plan)
  const viewOf = (one: ActionRow) => actionView(one, channels)
  await recordChange(trx, ctx, changeOf(['action', action], stored, row, viewOf))
  return { row, view: viewOf(row) }
}

/**
 * Locks the actions of an endpoint, and finds one of them.
 * @throws DomainError `not_found` when it was deleted meanwhile
 */
export async function lockAction(trx: Trx, { endpointId, id }: Pick<ActionRow, 'endpointId' | 'id'>) {
  const actions = await lockActions(trx, endpointId)
  const stored = actions.find((action) => action.id === id)
  if (stored === undefined) throw notFound('action')
  return { actions, stored }
}

/**
 * Writes columns of a locked action. Switching it off starts the 24 h for which its deliveries wait. Switching it on
 * queues them again.
 */
export async function writeAction(
  ctx: Context,
  trx: Trx,
  stored: ActionRow,
  columns: Updateable<ActionsTable>,
): Promise<void> {
  const wasOn = isOn(stored)
  const isNowOn = (columns.isActive ?? stored.isActive) && !stored.suspendedByPlan
  const offSince = wasOn === isNowOn ? {} : { offSince: isNowOn ? null : ctx.clock.now() }
  // A delay that a receiver has asked for is of this receiver, and a resume overrules it.
  const endsDelay = columns.pausedAt === null || (columns.url !== undefined && columns.url !== stored.url)
  const changesFlow = endsDelay || columns.deliveryPolicy !== undefined
  // Before the action, in the order of those who record attempts.
  if (changesFlow) await lockFlow(trx, stored.id)
  await updateAction(trx, stored.id, { ...columns, ...offSince })
  if (!wasOn && isNowOn) await resumeDeliveries(ctx, trx, [stored.id])
  if (columns.deliveryPolicy !== undefined) await applyPolicy(ctx, trx, stored.id, columns.deliveryPolicy)
  if (changesFlow) await forgetDelay(trx, stored.id, endsDelay ? 'any' : 'unbound')
  await announceEndpointChange(trx, stored.endpointId)
  if (stored.governed || changesFlow)
    await wakeFlows(ctx, trx, [{ id: stored.id, workspaceId: ctx.workspace.id }], 'change')
}

function changedColumns(ctx: Context, stored: ActionRow, input: UpdateInput): Updateable<ActionsTable> {
  const columns: Updateable<ActionsTable> = {}
  if (input.name !== undefined) columns.name = input.name
  if (input.isActive !== undefined) columns.isActive = input.isActive
  if (input.condition !== undefined && input.condition !== null) {
    const read = readCondition(ctx.rawBody, 'condition', input.condition)
    if ('condition' in read) columns.condition = read.condition.text
  }
  if (stored.kind === 'forward') {
    if (input.url !== undefined) columns.url = input.url
    if (input.appendPath !== undefined) columns.appendPath = input.appendPath
    if (input.appendQuery !== undefined) columns.appendQuery = input.appendQuery
    if (input.delivery !== undefined)
      columns.deliveryPolicy = input.delivery === null ? null : policyText(input.delivery)
    const sealing = { secrets: ctx.secrets, workspaceId: ctx.workspace.id, now: ctx.clock.now() }
    return {
      ...columns,
      ...authColumns(input.auth, stored, sealing),
      ...tlsColumns(input.tls, stored, sealing),
      ...schemeColumns(input.signing, stored, sealing.now),
      ...signingColumns(input.signingSecret, stored, sealing),
    }
  }
  if (input.alertChannelId !== undefined) columns.alertChannelId = input.alertChannelId
  if (input.messageTemplate !== undefined) columns.messageTemplate = input.messageTemplate
  return columns
}

/**
 * Deletes an action with its rules and queued deliveries; stored captures and attempts stay. The positions of the
 * others close up, and a suspended action may have room again.
 */
export async function removeAction(ctx: Context, action: ActionRow): Promise<void> {
  await dropMost(ctx.db, action.id)
  await ctx.db.transaction().execute(async (trx) => {
    const { actions, stored } = await lockAction(trx, action)
    await dropAction(ctx, trx, actions, stored)
    const channels = await listChannelStates({ ...ctx, db: trx }, ctx.workspace.id, ctx.plan)
    const viewOf = (one: ActionRow) => actionView(one, channels)
    await recordChange(trx, ctx, changeOf(['action', 'actions.remove'], stored, null, viewOf))
  })
}

/** Deletes one of an endpoint's actions, all of which are locked. */
export async function dropAction(
  ctx: Context,
  trx: Trx,
  actions: readonly ActionRow[],
  { endpointId, id }: ActionRow,
): Promise<void> {
  await dropDeliveries(trx, id)
  // Its rules go with it, and its flow, after an attempt that is being recorded: that may open an incident until then.
  await trx.deleteFrom('actions').where('id', '=', id).execute()
  await closeIncidentsSilently(ctx, trx, ACTION_INCIDENTS, [id])
  await numberActions(
    trx,
    actions.filter((action) => action.id !== id).map((action) => action.id),
  )
  await resumeDeliveries(ctx, trx, await fitActions(trx, ctx, { endpointId }, ctx.plan.limits.actionsMax))
  // A last look drops deliveries that a capture or a replay has queued meanwhile.
  const lane = { id, workspaceId: ctx.workspace.id }
  await announceEndpointChange(trx, endpointId, flowSignal('change', lane))
}
