import { type ActionRow, listActions } from '../actions/index.ts'
import type { Context } from '../api/context.ts'
import { requireStays } from '../api/seal.ts'
import { flowSignal, insertDeliveries } from '../deliveries/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { run, statement } from '../platform/db/index.ts'
import { Turns, WAIT_MS_MAX } from '../platform/turns/index.ts'
import {
  findOriginals,
  findReplayable,
  findReplayableIds,
  hasOriginal,
  sendsRequest,
  storedRequest,
} from '../requests/index.ts'
import { chooseActions, matcherOf } from './replayRequest.ts'
import { evaluate, evaluationLimit } from './replaySlot.ts'

/** Requests in memory at once, with their bodies, while conditions are evaluated. */
const EVALUATED_AT_ONCE = 10
/** Time of the conditions of all requests of one bulk replay. */
const EVALUATION_SECONDS = 60

/** Bulk replays that evaluate conditions: one of a workspace at a time, since each holds bodies in memory. */
const turns = new Turns({ atOnce: 1, wait: { msMax: WAIT_MS_MAX, noun: 'bulk replays' } })

/** The requests `$2` of the endpoint `$1`, each with an action whose newest attempt of it is a dead letter. */
const DEAD_LETTERS = statement(
  'dead letters of requests',
  `select t.request_id, t.action_id
  from (
    select distinct on (a.request_id, a.action_id) a.request_id, a.action_id, a.state
    from delivery_attempts a
    where a.endpoint_id = $1::uuid and a.request_id = any($2::bigint[]) and ${sendsRequest('a')}
    order by a.request_id, a.action_id, a.id desc
  ) t
  where t.state = 'DeadLetter'`,
)

/** Choice of the actions of a bulk replay. */
export interface Through {
  readonly actionId?: string | undefined
  /** Whether a request goes only through the actions of its dead letters. */
  readonly deadLettersOnly?: boolean | undefined
}

/**
 * Queues captured requests again, with the full retry schedule. Without `actionId`, each goes through the enabled
 * actions with a matching condition, or through those of its dead letters.
 *
 * @returns requests queued, deliveries created, and ids skipped: absent, binned, oversize, without their key or
 *   original, or no action matched
 * @throws DomainError as a single replay does, `requestIds` being too many when the conditions of all take over a
 *   minute; LineTooLong when earlier bulk replays of the workspace take too long. Then nothing is queued
 */
export async function bulkReplay(
  ctx: Context,
  endpointId: string,
  requestIds: readonly number[],
  { actionId, deadLettersOnly = false }: Through,
): Promise<{ queuedCount: number; deliveryCount: number; skippedCount: number }> {
  const actions = chooseActions(await listActions(ctx.db, endpointId), actionId)
  // A dead letter was delivered before, so its condition holds.
  const paired = await pairUp(ctx, endpointId, requestIds, actions, actionId !== undefined || deadLettersOnly)
  const pairs = deadLettersOnly ? await ofDeadLetters(ctx, endpointId, paired) : paired
  const now = ctx.clock.now()
  const { id: workspaceId } = ctx.workspace
  const signals = pairs.map(({ action: { id } }) => flowSignal('work', { id, workspaceId }))
  await ctx.db.transaction().execute(async (trx) => {
    await insertDeliveries(
      ctx,
      trx,
      pairs.map(({ requestId, action }) => ({
        workspaceId,
        endpointId,
        requestId,
        actionId: action.id,
        actionName: action.name,
        kind: action.kind,
        trigger: 'bulkReplay',
        // Replays are outside of the order.
        orderKey: null,
        createdAt: now,
      })),
    )
    await requireStays(ctx, trx, workspaceId)
    await announceEndpointChange(trx, ...signals)
  })
  const queuedCount = new Set(pairs.map(({ requestId }) => requestId)).size
  return { queuedCount, deliveryCount: pairs.length, skippedCount: requestIds.length - queuedCount }
}

interface Pair {
  readonly requestId: number
  readonly action: ActionRow
}

async function ofDeadLetters(ctx: Context, endpointId: string, pairs: readonly Pair[]): Promise<Pair[]> {
  const ids = [...new Set(pairs.map(({ requestId }) => requestId))]
  const rows = await run(ctx.db, DEAD_LETTERS, [endpointId, ids])
  const dead = new Set(rows.map(({ requestId, actionId }) => `${requestId} ${actionId}`))
  return pairs.filter(({ requestId, action }) => dead.has(`${requestId} ${action.id}`))
}

/** Pairs requests with actions. Bodies are read only for conditions that need them. */
async function pairUp(
  ctx: Context,
  endpointId: string,
  requestIds: readonly number[],
  actions: readonly ActionRow[],
  isForced: boolean,
): Promise<Pair[]> {
  const { matchesAll, matching } = matcherOf(actions)
  const found = await findReplayableIds(ctx, endpointId, requestIds)
  if (isForced || matchesAll) {
    return found.flatMap(({ id }) => actions.map((action) => ({ requestId: id, action })))
  }
  const evaluateAll = async () => {
    const limit = evaluationLimit(EVALUATION_SECONDS, { path: ['requestIds'], code: 'too_many' })
    const pairs: Pair[] = []
    for (let at = 0; at < found.length; at += EVALUATED_AT_ONCE) {
      const ids = found.slice(at, at + EVALUATED_AT_ONCE).map(({ id }) => id)
      const rows = await findReplayable(ctx, endpointId, ids)
      const originals = await findOriginals(
        ctx,
        ctx.db,
        rows.flatMap(({ id, redaction }) => (hasOriginal(redaction) ? [{ endpointId, requestId: id }] : [])),
      )
      for (const row of rows) {
        const pieces = matching(originals.get(row.id) ?? storedRequest(row))
        const actionsOf = await evaluate(ctx, pieces, limit)
        pairs.push(...actionsOf.map((action) => ({ requestId: row.id, action })))
      }
    }
    return pairs
  }
  const { id } = ctx.workspace
  return await turns.run(id, evaluateAll, {
    kind: `bulk replay ${endpointId}`,
    size: found.length,
    signal: ctx.signal,
  })
}
