import type {
  AnsweredCapture,
  CaptureResult,
  CaptureSettings,
  Captures,
  WaitForAnswer,
} from '@creel/core/capture'
import type { WireExchange } from '../http/exchange.ts'
import type { BodyShare } from './bodyBudget.ts'
import { answerOf } from './captureAnswers.ts'
import { allowed } from './cors.ts'

/** Whether a capture may get another answer than its endpoint's own. The answer of a handshake comes first. */
export function hasScript(result: CaptureResult): result is AnsweredCapture {
  const isCommitted = result.state === 'stored' || result.state === 'discarded'
  return isCommitted && result.capture.settings.script !== null && result.capture.handshake === null
}

/** Chooses the answer to a committed capture, waits for it and sends it. The body is let go before the wait. */
export function answerScripted(
  exchange: WireExchange,
  { captures, share }: { readonly captures: Captures; readonly share: Pick<BodyShare, 'release'> },
  result: AnsweredCapture,
): Promise<void> {
  return answerWhenDue(exchange, chosen(captures, share, result), result.capture.settings)
}

async function chosen(
  captures: Captures,
  share: Pick<BodyShare, 'release'>,
  result: AnsweredCapture,
): Promise<WaitForAnswer> {
  try {
    return await captures.chooseAnswer(result)
  } finally {
    share.release()
  }
}

/** Waits for an answer and sends it. If the sender has gone, its place is free at once. */
async function answerWhenDue(
  exchange: WireExchange,
  choosing: Promise<WaitForAnswer>,
  settings: CaptureSettings,
): Promise<void> {
  const wait = await choosing
  const { served, close } = await wait(exchange)
  const answer = allowed(answerOf(served), settings)
  if (close === 'reset') exchange.abort()
  else if (close === 'mid-body') exchange.answerHalf(answer)
  else exchange.answer(answer, true)
}
