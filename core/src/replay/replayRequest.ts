import { type ActionRow, isOn, listActions, planDispatch } from '../actions/index.ts'
import type { Context } from '../api/context.ts'
import { DomainError, notFound, validationFailed } from '../api/errors.ts'
import type { AttemptRow } from '../deliveries/index.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { requestRoot, storedCondition } from '../engine/conditions/index.ts'
import type { RequestRow } from '../requests/index.ts'
import { storedRequest } from '../requests/index.ts'
import { inReplaySlot } from './replaySlot.ts'
import { type ReplayTarget, replayThrough } from './replayThrough.ts'

/** What a replay did with an action: the attempt that it made, or none because the condition did not match. */
export interface Outcome {
  readonly action: Pick<ActionRow, 'id' | 'name' | 'kind'>
  readonly attempt: AttemptRow | null
}

/** What an inline replay came to. `Skipped`: no action was sent to. */
export interface Replay {
  readonly state: 'Succeeded' | 'Failed' | 'Errored' | 'Skipped'
  /** In position order. */
  readonly outcomes: readonly Outcome[]
}

/**
 * Sends a captured request again, now, once, and answers with what became of it.
 *
 * Without `actionId` it goes through every switched-on action whose condition matches, in parallel; with it,
 * through that action, whose condition is not consulted.
 *
 * @throws DomainError `forwarding_disabled`, `action_inactive`, `not_found` for an action of another endpoint,
 *   `validation_failed` for an oversize trace, `rate_limited` when too many replays run
 */
export async function replayRequest(
  ctx: Context,
  endpoint: EndpointRow,
  request: RequestRow,
  actionId: string | undefined,
): Promise<Replay> {
  const chosen = chooseActions(await listActions(ctx.db, endpoint.id), actionId)
  if (request.bodyTruncated) throw refusedAsOversize()
  const target: ReplayTarget = {
    workspaceId: ctx.workspace.id,
    plan: ctx.plan,
    endpoint,
    requestId: request.id,
    request: storedRequest(request),
  }
  const runs = actionId === undefined ? matchingIds(chosen, target) : new Set([actionId])
  return await inReplaySlot(ctx, async (signal) => {
    const tried = await replayThrough(
      ctx,
      target,
      chosen.filter(({ id }) => runs.has(id)),
      signal,
    )
    const outcomes = chosen.map((action) => ({ action, attempt: tried.get(action.id) ?? null }))
    return { state: worstOf(outcomes), outcomes }
  })
}

/**
 * The actions that a replay concerns.
 * @throws DomainError: with `actionId` only `action_inactive`, without only `forwarding_disabled`
 */
export function chooseActions(actions: readonly ActionRow[], actionId: string | undefined): ActionRow[] {
  if (actionId === undefined) {
    const on = actions.filter(isOn)
    if (on.length > 0) return on
    throw new DomainError('forwarding_disabled', 'The endpoint has no action that is switched on.')
  }
  const action = actions.find(({ id }) => id === actionId)
  if (action === undefined) throw notFound('action')
  if (isOn(action)) return [action]
  throw new DomainError('action_inactive', 'The action is switched off, or suspended by the plan.')
}

function matchingIds(actions: readonly ActionRow[], { request }: ReplayTarget): Set<string> {
  const dispatchable = actions.map((action) => ({ ...action, condition: storedCondition(action.condition) }))
  return new Set(planDispatch(dispatchable, requestRoot(request)).actions.map(({ id }) => id))
}

/** Why a request whose body was not kept whole is not sent. */
export function refusedAsOversize(): DomainError {
  return validationFailed([
    {
      path: ['requestId'],
      code: 'not_allowed',
      detail: 'The request is an oversize trace: its body was not kept whole, so it cannot be replayed.',
    },
  ])
}

/** Succeeded if all that were tried did; Skipped if none was; else the worst. */
function worstOf(outcomes: readonly Outcome[]): Replay['state'] {
  const states = new Set(outcomes.flatMap(({ attempt }) => (attempt === null ? [] : [attempt.state])))
  if (states.size === 0) return 'Skipped'
  if (states.size === 1 && states.has('Succeeded')) return 'Succeeded'
  states.delete('Succeeded')
  return states.size === 1 && states.has('Failed') ? 'Failed' : 'Errored'
}
