import { raiseSingle } from '../alerts/index.ts'
import { recordChange } from '../audit/index.ts'
import type { PauseGone } from '../deliveries/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { pauseActions } from './queries.ts'

const REASON = 'The receiver answered 410 Gone. Deliveries of this action wait until it is resumed.'

/**
 * Pauses actions whose receivers answered 410, with an audit entry and an alert each. Actions that are paused already
 * do not change.
 */
export const pauseGone: PauseGone = async (services, trx, gone) => {
  if (gone.length === 0) return
  const now = services.clock.now()
  const paused = await pauseActions(
    trx,
    gone.map(({ action }) => action.id),
    now,
  )
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
