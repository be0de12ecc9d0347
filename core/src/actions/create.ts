import { randomUUID } from 'node:crypto'
import { listChannelStates } from '../alertChannels/index.ts'
import type { Context } from '../api/context.ts'
import { requireRoom } from '../api/planGates.ts'
import { changeOf, recordChange } from '../audit/index.ts'
import { policyText } from '../deliveries/index.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { ALWAYS, readCondition } from '../engine/conditions/index.ts'
import { storedWord } from '../engine/words/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { authColumns } from './auth.ts'
import { warningsMember } from './check.ts'
import { type ActionRow, findAction, lockActions, numberActions } from './queries.ts'
import { ACTION_KINDS, type CreateInput } from './schema.ts'
import { schemeColumns, signingColumns } from './signing.ts'
import { tlsColumns } from './tls.ts'
import { actionView } from './view.ts'

/**
 * The order of ids after one was put at a position. Positions count from 1; one past the end means last. The others
 * keep their order.
 *
 * @param ids ids in the present order; `id` may be among them
 * @param position undefined leaves a known id at its position and puts a new one last
 */
export function placed(ids: readonly string[], id: string, position: number | undefined): string[] {
  if (position === undefined && ids.includes(id)) return [...ids]
  const others = ids.filter((other) => other !== id)
  return others.toSpliced((position ?? others.length + 1) - 1, 0, id)
}

/** Default message of a notify action. */
const DEFAULT_TEMPLATE = '{{endpoint.name}}: {{method}} {{label}} (request {{request.id}})'

/**
 * Adds an action, last by default.
 * @throws DomainError `limit_reached` when the endpoint has all the actions that its plan has room for
 */
export async function createAction(ctx: Context, endpoint: EndpointRow, input: CreateInput) {
  const channels = await listChannelStates(ctx, ctx.workspace.id, ctx.plan)
  const channelName = channels.find(({ id }) => id === input.alertChannelId)?.name
  return await ctx.db.transaction().execute(async (trx) => {
    const others = await lockActions(trx, endpoint.id)
    const { endpointId: _, condition, kind, ...members } = input
    const read =
      condition === undefined || condition === null
        ? undefined
        : readCondition(ctx.rawBody, 'condition', condition)
    const id = await addAction(ctx, trx, others, {
      ...members,
      endpointId: endpoint.id,
      kind: storedWord(ACTION_KINDS, kind),
      name: input.name ?? channelName ?? hostOf(input.url),
      condition: read !== undefined && 'condition' in read ? read.condition.text : ALWAYS.text,
    })
    const row = await findAction(trx, endpoint.id, id)
    if (row === undefined) throw new Error('The action that was just inserted is gone.')
    const view = actionView(row, channels)
    await recordChange(
      trx,
      ctx,
      changeOf(['action', 'actions.create'], null, row, () => view),
    )
    return { ...view, ...warningsMember(endpoint, row) }
  })
}

/** The input with its defaults filled in, and the condition as it is stored. */
type NewAction = Partial<Omit<CreateInput, 'name' | 'condition'>> &
  Pick<ActionRow, 'endpointId' | 'kind' | 'name' | 'condition'>

/**
 * Inserts an action in its place.
 *
 * @param others the endpoint's actions, locked
 * @returns the new id
 * @throws DomainError `limit_reached`
 */
export async function addAction(
  ctx: Context,
  trx: Trx,
  others: readonly ActionRow[],
  action: NewAction,
): Promise<string> {
  requireRoom(ctx.plan, 'actionsMax', others.length, 'actions an endpoint')
  const now = ctx.clock.now()
  const id = randomUUID()
  const isForward = action.kind === 'forward'
  const isActive = action.isActive ?? true
  const sealing = { secrets: ctx.secrets, workspaceId: ctx.workspace.id, now }
  const row = {
    ...signingColumns(isForward ? action.signingSecret || undefined : undefined, undefined, sealing),
    ...authColumns(isForward ? action.auth : undefined, undefined, sealing),
    ...tlsColumns(isForward ? action.tls : undefined, undefined, sealing),
    id,
    workspaceId: ctx.workspace.id,
    endpointId: action.endpointId,
    kind: action.kind,
    name: action.name,
    position: others.length + 1,
    isActive,
    offSince: isActive ? null : now,
    condition: action.condition,
    url: isForward ? (action.url ?? null) : null,
    appendPath: isForward && (action.appendPath ?? false),
    appendQuery: isForward && (action.appendQuery ?? false),
    ...schemeColumns(isForward ? action.signing : undefined, undefined, now),
    deliveryPolicy: isForward && action.delivery ? policyText(action.delivery) : null,
    alertChannelId: isForward ? null : (action.alertChannelId ?? null),
    messageTemplate: isForward ? null : (action.messageTemplate ?? DEFAULT_TEMPLATE),
    createdAt: now,
  }
  await trx.insertInto('actions').values(row).execute()
  const ids = others.map((other) => other.id)
  await numberActions(trx, placed(ids, id, action.position))
  await announceEndpointChange(trx, action.endpointId)
  return id
}

/** The host of a URL, which is the default name of a forward. */
export function hostOf(url: string | undefined): string {
  return (url === undefined ? null : URL.parse(url))?.host.slice(0, 100) || 'Action'
}
