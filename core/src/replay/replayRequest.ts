import { type ActionRow, isOn, listActions, planDispatchInSteps } from '../actions/index.ts'
import type { Context } from '../api/context.ts'
import { actionOff, DomainError, notAllowed, notFound, shredded } from '../api/errors.ts'
import type { AttemptRow } from '../deliveries/index.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { requestRoot, storedCondition } from '../engine/conditions/index.ts'
import type { EvaluatedRequest } from '../engine/message/index.ts'
import { isShredded, keyOfRow } from '../platform/secrets/index.ts'
import { findOriginals, hasOriginal, type RequestRow, storedRequest } from '../requests/index.ts'
import { evaluate, evaluationLimit, inReplaySlot } from './replaySlot.ts'
import { type ReplayTarget, replayThrough } from './replayThrough.ts'

/** Time of the conditions of one request. A capture waits as long for the evaluation of its own. */
const EVALUATION_SECONDS = 30

/** Result of a replay through one action: the attempt, or null if the condition did not match. */
export interface Outcome {
  readonly action: Pick<ActionRow, 'id' | 'name' | 'kind'>
  readonly attempt: AttemptRow | null
}

/** Result of an inline replay. `Skipped`: no action sent anything. */
export interface Replay {
  readonly state: 'Succeeded' | 'Failed' | 'Errored' | 'Skipped'
  /** In position order. */
  readonly outcomes: readonly Outcome[]
}

/**
 * Sends a captured request again, immediately and once, and returns the result.
 *
 * Without `actionId` it goes through every enabled action with a matching condition, in parallel. With `actionId` it
 * goes through that action, regardless of its condition.
 *
 * @throws DomainError `forwarding_disabled`, `action_inactive`, `not_found` for an action of another endpoint,
 *   `validation_failed` for an oversize trace, `rate_limited` when too many replays run. The same as for a missing
 *   `actionId` when the conditions take over 30 s, or `unavailable` when they have not begun by then
 */
export async function replayRequest(
  ctx: Context,
  endpoint: EndpointRow,
  request: RequestRow,
  actionId: string | undefined,
): Promise<Replay> {
  const chosen = chooseActions(await listActions(ctx.db, endpoint.id), actionId)
  if (request.bodyTruncated) throw refusedAsOversize()
  const target = { ...targetOf(ctx, endpoint, request), ...(await requestToSend(ctx, request)) }
  const { matchesAll, matching } = matcherOf(chosen)
  const goesThroughAll = actionId !== undefined || matchesAll
  const limit = () => evaluationLimit(EVALUATION_SECONDS, { path: ['actionId'], code: 'required' })
  /** Actions may have changed while conditions were evaluated. */
  const stillOn = async (matched: readonly ActionRow[]) => {
    const ids = new Set(matched.map(({ id }) => id))
    return (await listActions(ctx.db, endpoint.id)).filter((action) => ids.has(action.id) && isOn(action))
  }
  const replay = async (beginSends: () => AbortSignal) => {
    const runs = goesThroughAll
      ? chosen
      : await stillOn(await evaluate(ctx, matching(target.request), limit()))
    const tried = await replayThrough(ctx, target, runs, beginSends())
    const outcomes = chosen.map((action) => ({ action, attempt: tried.get(action.id) ?? null }))
    return { state: worstOf(outcomes), outcomes }
  }
  return await inReplaySlot(ctx, chosen, replay, goesThroughAll ? 0 : EVALUATION_SECONDS)
}

/** The target of a replay, without the request that it sends. */
export const targetOf = ({ workspace, plan }: Context, endpoint: EndpointRow, row: RequestRow) => ({
  workspaceId: workspace.id,
  plan,
  endpoint,
  requestId: row.id,
  redaction: row.redaction,
  sealing: keyOfRow(row),
})

/**
 * The actions of a replay.
 *
 * @throws DomainError: with `actionId` only `action_inactive`, without only `forwarding_disabled`
 */
export function chooseActions(actions: readonly ActionRow[], actionId: string | undefined): ActionRow[] {
  if (actionId === undefined) {
    const on = actions.filter(isOn)
    if (on.length > 0) return on
    throw new DomainError('forwarding_disabled', 'The endpoint has no active action.')
  }
  const action = actions.find(({ id }) => id === actionId)
  if (action === undefined) throw notFound('action')
  if (isOn(action)) return [action]
  throw actionOff()
}

/** Finds the actions whose conditions match a request. Conditions are parsed once. */
export function matcherOf(actions: readonly ActionRow[]) {
  const dispatchable = actions.map((action) => ({ ...action, condition: storedCondition(action.condition) }))
  return {
    matchesAll: dispatchable.every(({ condition }) => condition.test.kind === 'always'),
    /** Yields between short steps. */
    *matching(request: EvaluatedRequest): Generator<void, ActionRow[]> {
      const plan = yield* planDispatchInSteps(dispatchable, requestRoot(request))
      const chosen = new Set(plan.actions.map(({ id }) => id))
      return actions.filter(({ id }) => chosen.has(id))
    },
  }
}

/**
 * The request that a replay sends: the original, if it was kept for the deliveries.
 *
 * @throws DomainError `original_gone` when it was, and is gone; `shredded` when the key of its content is
 */
async function requestToSend(
  ctx: Context,
  row: RequestRow,
): Promise<Pick<ReplayTarget, 'request' | 'stored'>> {
  if (isShredded(row)) throw shredded()
  const stored = storedRequest(row)
  if (!hasOriginal(row.redaction)) return { request: stored }
  const originals = await findOriginals(ctx, ctx.db, [{ endpointId: row.endpointId, requestId: row.id }])
  const original = originals.get(row.id)
  if (original !== undefined) return { request: original, stored }
  const detail = 'The original of the request is gone: its deliveries have ended, or its time is over.'
  throw new DomainError('original_gone', detail)
}

/** The refusal of a request with an incomplete body. */
export const refusedAsOversize = (): DomainError =>
  notAllowed(
    ['requestId'],
    'The request is an oversize trace: its body was not kept whole, so it cannot be replayed.',
  )

/** Succeeded if all attempts did; Skipped if there were none; else the worst state. */
function worstOf(outcomes: readonly Outcome[]): Replay['state'] {
  const states = new Set(outcomes.flatMap(({ attempt }) => (attempt === null ? [] : [attempt.state])))
  if (states.size === 0) return 'Skipped'
  if (states.size === 1 && states.has('Succeeded')) return 'Succeeded'
  states.delete('Succeeded')
  return states.size === 1 && states.has('Failed') ? 'Failed' : 'Errored'
}
