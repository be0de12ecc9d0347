import type { SendResult } from '../outbound/index.ts'
import type { Services } from '../services.ts'
import { creelSignature } from '../signing/index.ts'
import { type Attempt, type AttemptResult, NO_RULES } from './attempt.ts'
import { deliveryUuid } from './deliveryUuid.ts'
import { creelHeaders, forwardableHeaders, hopsOf } from './forwardHeaders.ts'

/**
 * Makes one try: builds the forward, signs it, sends it. Records nothing and never throws; what became of it
 * is a result.
 *
 * The captured method and bytes go to the action's URL exactly as configured (CONTRACT §7).
 */
export async function sendAttempt(
  { outbound, clock }: Pick<Services, 'outbound' | 'clock'>,
  attempt: Attempt,
  signal?: AbortSignal,
): Promise<AttemptResult> {
  if (attempt.refusal !== null) return notSent(attempt.refusal, clock.now())
  const { request, action } = attempt
  const { body } = request
  const signature =
    action.secrets.length === 0 ? null : creelSignature(body, action.secrets, attempt.startedAt)
  const result = await outbound.send({
    method: request.method,
    url: action.url,
    headers: [
      ...forwardableHeaders(request.headers),
      ...creelHeaders({
        attemptId: attempt.id,
        deliveryUuid: deliveryUuid(attempt.requestId, action.id),
        requestId: attempt.requestId,
        attemptNumber: attempt.attemptNumber,
        hops: hopsOf(request.headers),
        signature,
      }),
    ],
    body,
    signal,
  })
  return {
    error: errorOf(result),
    sent: {
      method: request.method,
      url: action.url,
      headers: result.sentHeaders,
      body,
      bodyIsCaptured: true,
    },
    received: result.outcome === 'response' ? result : null,
    finishedAt: clock.now(),
    durationMs: result.durationMs,
    rules: NO_RULES,
  }
}

/** The result of a try that ended before anything was sent. */
export function notSent(error: string, now: Date): AttemptResult {
  return { error, sent: null, received: null, finishedAt: now, durationMs: 0, rules: NO_RULES }
}

/** Null for a 2xx, else the stable word of CONTRACT §8 with what people want to know after it. */
function errorOf(result: SendResult): string | null {
  if (result.outcome !== 'response') {
    if (result.outcome === 'unsendable') return `connect: ${result.detail}`
    return `${result.outcome === 'aborted' ? 'interrupted' : result.outcome}: ${result.detail}`
  }
  const { statusCode } = result
  if (statusCode >= 200 && statusCode <= 299) return null
  if (statusCode === 410) return 'gone'
  if (statusCode >= 300 && statusCode <= 399) return `redirect: ${statusCode} is not followed`
  return `http_${statusCode}`
}
