import type { NotifyReport } from '../alertChannels/index.ts'
import type { AttemptState } from '../engine/words/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { replaceDetail } from './details.ts'
import { countAttempts } from './storageBytes.ts'

/**
 * Finishes the attempt row of a notify action with its first send, and updates it after each further one: Succeeded when the provider took it, Failed when it answered otherwise, Errored when no answer came or the
 * channel was not available. Never DeadLetter, never Interrupted.
 */
export async function finishNotify(trx: Trx, report: NotifyReport): Promise<void> {
  const { endpointId, requestId, attemptId, send, finishedAt, nextAttemptAt } = report
  await trx
    .updateTable('deliveryAttempts')
    .set({
      state: stateOf(report),
      statusCode: send?.statusCode ?? null,
      error: errorOf(report),
      finishedAt,
      durationMs: send?.durationMs ?? 0,
      nextAttemptAt: nextAttemptAt,
      leaseUntil: null,
    })
    .where('endpointId', '=', endpointId)
    .where('id', '=', attemptId)
    .execute()
  if (send !== null) await replaceDetail(trx, { endpointId, attemptId, requestId }, send)
  await countAttempts(trx, endpointId, [attemptId])
  await announceEndpointChange(trx, endpointId)
}

function stateOf({ delivered, send }: NotifyReport): AttemptState {
  if (delivered) return 'Succeeded'
  return send === null || send.statusCode === null ? 'Errored' : 'Failed'
}

/** A stable word first, then the provider's own words. */
function errorOf({ delivered, send, detail }: NotifyReport): string | null {
  if (delivered) return null
  const word = send === null ? 'channel_unavailable' : (send.error ?? 'reset')
  if (detail === null || detail === '' || detail.startsWith(word)) return detail || word
  return `${word}: ${detail}`
}
