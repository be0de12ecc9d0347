import type { Updateable } from 'kysely'
import { raiseSingle } from '../alerts/index.ts'
import type { Context } from '../api/context.ts'
import { recordChange } from '../audit/index.ts'
import { lockFlow, type PauseGone } from '../deliveries/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { type ActionsTable, run, statement } from '../platform/db/index.ts'
import { lockAction, recordActionChange, writeAction } from './change.ts'
import type { ActionRow } from './queries.ts'

/** Refuses to pause an action that is no forward: the sends of a notify action belong to its channel. */
export function checkPausable({ kind }: ActionRow): InputIssue[] {
  if (kind === 'forward') return []
  return [{ path: ['actionId'], code: 'not_allowed', detail: 'Only a forward action can be paused.' }]
}

/**
 * Pauses an action. If it is paused already, nothing changes.
 *
 * @throws DomainError `not_found` when it was deleted meanwhile
 */
export function pauseAction(ctx: Context, action: ActionRow) {
  return setPause(ctx, action, 'actions.pause', (stored) => ({
    pausedAt: stored.pausedAt ?? ctx.clock.now(),
    drainPerSecond: null,
  }))
}

/**
 * Resumes an action.
 *
 * @param perSecond attempts that may start in a second until the backlog is empty; null for the pace of its policy
 * @throws DomainError `not_found` when it was deleted meanwhile
 */
export function resumeAction(ctx: Context, action: ActionRow, perSecond: number | null) {
  return setPause(ctx, action, 'actions.resume', () => ({ pausedAt: null, drainPerSecond: perSecond }))
}

async function setPause(
  ctx: Context,
  action: ActionRow,
  name: string,
  columnsOf: (stored: ActionRow) => Updateable<ActionsTable>,
) {
  return await ctx.db.transaction().execute(async (trx) => {
    const { stored } = await lockAction(trx, action)
    await lockFlow(trx, stored.id)
    await writeAction(ctx, trx, stored, columnsOf(stored))
    return (await recordActionChange(ctx, trx, name, stored)).view
  })
}

/** Pauses those of the actions `$2` that are not paused, at `$1`. Rows are locked in the order of ids. */
const PAUSE = statement(
  'pause actions',
  `update actions a set paused_at = $1
  from (
    select id from actions where id = any($2::uuid[]) and paused_at is null order by id for no key update
  ) running
  where a.id = running.id
  returning a.id, a.name`,
  { isPrepared: false },
)

const REASON = 'The receiver answered 410 Gone. Deliveries of this action wait until it is resumed.'

/**
 * Pauses actions whose receivers answered 410, with an audit entry and an alert each. Actions that are paused already
 * do not change.
 */
export const pauseGone: PauseGone = async (services, trx, gone) => {
  if (gone.length === 0) return
  const now = services.clock.now()
  const paused = await run(trx, PAUSE, [now, gone.map(({ action }) => action.id)])
  for (const { id, name } of paused) {
    const cause = gone.findLast(({ action }) => action.id === id)
    if (cause === undefined) continue
    const { workspaceId, endpoint, requestId } = cause
    await recordChange(trx, services, {
      action: 'actions.pause',
      workspaceId,
      subject: { type: 'action', id, name },
      endpointId: endpoint.id,
      before: { pausedAt: null },
      after: { pausedAt: now },
    })
    await raiseSingle(services, trx, {
      kind: 'action.paused',
      workspaceId,
      subject: { id, name },
      endpoint,
      requestId,
      reason: REASON,
    })
    await announceEndpointChange(trx, endpoint.id)
  }
}
