import type { NotifyReport } from '../alertChannels/index.ts'
import type { Services } from '../api/services.ts'
import type { AttemptState } from '../engine/words/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { replaceDetail } from './details.ts'
import { countAttempts } from './storageBytes.ts'

/**
 * Finishes the attempt row of a notify action after its first send, and updates it after each retry. The state is
 * Succeeded when the provider accepted the message, Failed for any other answer, and Errored when no answer arrived or
 * the channel was not available. It is never DeadLetter or Interrupted.
 */
export async function finishNotify(
  { secrets }: Pick<Services, 'secrets'>,
  trx: Trx,
  report: NotifyReport,
): Promise<void> {
  const { endpointId, requestId, attemptId, send, finishedAt, nextAttemptAt, sealing } = report
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
  if (send !== null) await replaceDetail(secrets, trx, { endpointId, attemptId, requestId, sealing }, send)
  await countAttempts(trx, endpointId, [attemptId])
  await announceEndpointChange(trx, endpointId)
}

function stateOf({ delivered, send }: NotifyReport): AttemptState {
  if (delivered) return 'Succeeded'
  return send === null || send.statusCode === null ? 'Errored' : 'Failed'
}

/** A stable error code, then the provider's own text. */
function errorOf({ delivered, send, detail }: NotifyReport): string | null {
  if (delivered) return null
  const word = send === null ? 'channel_unavailable' : (send.error ?? 'reset')
  if (detail === null || detail === '' || detail.startsWith(word)) return detail || word
  return `${word}: ${detail}`
}
