import type { Services } from '../api/services.ts'
import { flowSignal, insertDeliveries, type NewDelivery } from '../deliveries/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { insertOriginals, type Original } from '../requests/index.ts'
import type { CaptureOutcome } from './captureStatement.ts'
import { type EvaluatedCapture, orderKeyOf } from './evaluateCapture.ts'

export interface StoredCapture {
  readonly capture: EvaluatedCapture
  readonly requestId: number
}

/** Whether the capture has deliveries, which must be queued in the same transaction. */
export function hasConsequences(capture: EvaluatedCapture): boolean {
  return capture.dispatch.actions.length > 0
}

/**
 * Queues the deliveries of a batch of stored captures. They commit with the captures or not at all.
 *
 * @param stored in the order of their ids
 */
export async function applyConsequences(
  services: Pick<Services, 'enqueue' | 'clock' | 'secrets'>,
  trx: Trx,
  stored: readonly StoredCapture[],
): Promise<void> {
  await insertOriginals(services, trx, stored.flatMap(originalOf))
  await insertDeliveries(services, trx, stored.flatMap(deliveriesOf))
}

/** The original of a capture whose deliveries may have more than is stored. */
function originalOf({ capture, requestId }: StoredCapture): Original[] {
  const { original, settings, row } = capture
  if (original === undefined || settings.originalMs === null) return []
  const expiresAt = new Date(row.receivedAt.getTime() + settings.originalMs)
  return [{ workspaceId: settings.workspaceId, requestId, request: original, expiresAt }]
}

/** Whether the actions do not run: the capture is a duplicate, and its endpoint skips these. */
export function isSkipped({ claim }: EvaluatedCapture, outcome: CaptureOutcome): boolean {
  return outcome.state === 'stored' && outcome.duplicateOf !== null && claim?.then === 'skip'
}

/** The captures of a batch that were stored and are delivered, in their order. */
export function storedOf(
  captures: readonly EvaluatedCapture[],
  outcomes: readonly CaptureOutcome[],
): StoredCapture[] {
  return captures.flatMap((capture, index) => {
    const outcome = outcomes[index]
    if (outcome?.state !== 'stored' || outcome.id === null || isSkipped(capture, outcome)) return []
    return [{ capture, requestId: outcome.id }]
  })
}

/** Signals for the lanes of a capture's deliveries. Announce them once it is committed. */
export function flowSignalsOf({ dispatch, settings: { workspaceId } }: EvaluatedCapture): readonly string[] {
  return dispatch.actions.map(({ id }) => flowSignal('work', { id, workspaceId }))
}

function deliveriesOf({ capture, requestId }: StoredCapture): NewDelivery[] {
  const { settings, row, dispatch } = capture
  return dispatch.actions.map((action) => ({
    workspaceId: settings.workspaceId,
    endpointId: settings.endpointId,
    requestId,
    actionId: action.id,
    actionName: action.name,
    kind: action.kind,
    orderKey: orderKeyOf(capture, action),
    trigger: 'capture',
    createdAt: row.receivedAt,
  }))
}
