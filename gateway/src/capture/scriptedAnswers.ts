import type { CaptureResult, WaitForAnswer } from '@creel/core/capture'
import type { WireExchange } from '../http/exchange.ts'
import { answerOf } from './captureAnswers.ts'

/** A capture that was stored, or counted as a duplicate. */
export type Committed = Extract<CaptureResult, { state: 'stored' | 'discarded' }>

/** Whether a capture may get another answer than its endpoint's own. The answer of a handshake comes first. */
export function hasScript(result: CaptureResult): result is Committed {
  const isCommitted = result.state === 'stored' || result.state === 'discarded'
  return isCommitted && result.capture.settings.script !== null && result.capture.handshake === null
}

/** Waits for an answer and sends it. If the sender has gone, its place is free at once. */
export async function answerWhenDue(exchange: WireExchange, wait: WaitForAnswer): Promise<void> {
  const gone = new AbortController()
  exchange.onHangUp(() => gone.abort())
  const { served, close } = await wait(gone.signal)
  if (close === 'reset') exchange.abort()
  else if (close === 'mid-body') exchange.answerHalf(answerOf(served))
  else exchange.answer(answerOf(served), true)
}
