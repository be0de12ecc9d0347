import { listActions } from '../actions/index.ts'
import type { Context } from '../api/context.ts'
import { notAllowed, notFound, shredded } from '../api/errors.ts'
import { afterEffect } from '../api/problem.ts'
import { attemptWithRecord, findAttempts } from '../deliveries/index.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { isShredded } from '../platform/secrets/index.ts'
import { type RequestRow, storedRequest } from '../requests/index.ts'
import { type Edits, editedRequest } from './editedRequest.ts'
import { chooseActions, refusedAsOversize, targetOf } from './replayRequest.ts'
import { inReplaySlot } from './replaySlot.ts'
import { beginReplay, type ReplayTarget, replayForward } from './replayThrough.ts'

interface SendEdited extends Required<Pick<ReplayTarget, 'edited'>> {
  readonly actionId: string
  readonly edits: Edits
}

/**
 * Sends an edited request through a forward action, immediately and once, regardless of its condition. The capture is
 * unchanged. The attempt is recorded like any other, with the request that was actually sent.
 *
 * @throws DomainError `not_found` for an action of another endpoint, `action_inactive`, `validation_failed` for a
 *   notify action and for an oversize trace without a body of its own, `rate_limited` when too many replays run
 */
export async function sendEdited(
  ctx: Context,
  endpoint: EndpointRow,
  row: RequestRow,
  { actionId, edits, edited }: SendEdited,
) {
  const [action] = chooseActions(await listActions(ctx.db, endpoint.id), actionId)
  if (action === undefined) throw notFound('action')
  if (action.kind !== 'forward')
    throw notAllowed(['actionId'], 'The action notifies a channel. Choose a forward action.')
  if (isShredded(row)) throw shredded()
  const request = editedRequest(storedRequest(row), edits)
  if (request.bodyTruncated) throw refusedAsOversize()
  return await inReplaySlot(ctx, [action], async (beginSends) => {
    const target = { ...targetOf(ctx, endpoint, row), request, edited }
    const begun = await beginReplay(ctx, target, action)
    return await afterEffect(async () => {
      await replayForward(ctx, begun, beginSends())
      const [attempt] = await findAttempts(ctx.db, endpoint.id, [begun.id])
      if (attempt === undefined) throw notFound('request')
      return await attemptWithRecord(ctx.db, endpoint.id, attempt)
    })
  })
}
