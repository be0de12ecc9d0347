import type { AnsweredCapture, CaptureResult, CaptureSettings, Captures } from '@creel/core/capture'
import { OWN_ANSWER_HEADERS, type ServedResponse } from '@creel/core/endpoints'
import type { WireExchange } from '../http/exchange.ts'
import { ReadyAnswer } from '../http/readyAnswer.ts'
import type { RequestHead } from '../http/requestHead.ts'
import type { BodyShare } from './bodyBudget.ts'

/** `Retry-After` of a sender while nothing can be stored. */
const UNAVAILABLE_SECONDS = 2

/** No such endpoint. */
export const NOT_FOUND = refusalOf(404, 'not_found')
/** The endpoint accepts verified captures only. */
export const UNVERIFIED = refusalOf(401, 'unverified')
/** The endpoint does not accept captures from this sender. */
export const FOREIGN = refusalOf(403, 'sender_not_allowed')
const UNAVAILABLE = refusalOf(503, 'unavailable', UNAVAILABLE_SECONDS)

/**
 * The capture cannot be stored now.
 *
 * @param retryAfterSeconds until the backlog of the endpoint's workspace has been evaluated; 2 by default
 */
export function unavailable(retryAfterSeconds: number = UNAVAILABLE_SECONDS): ReadyAnswer {
  return retryAfterSeconds === UNAVAILABLE_SECONDS
    ? UNAVAILABLE
    : refusalOf(503, 'unavailable', retryAfterSeconds)
}

/** @param retryAfterSeconds until the endpoint's rate window ends */
export function rateLimited(retryAfterSeconds: number): ReadyAnswer {
  return refusalOf(429, 'rate_limited', retryAfterSeconds)
}

function refusalOf(status: number, error: string, retryAfterSeconds?: number): ReadyAnswer {
  const retryAfter =
    retryAfterSeconds === undefined ? [] : ([['Retry-After', String(retryAfterSeconds)]] as const)
  const headers = [...retryAfter, ...OWN_ANSWER_HEADERS]
  return answerOf({ status, contentType: 'application/json', headers, body: JSON.stringify({ error }) })
}

/** The answer that serves a configured response or a handshake. */
export function answerOf(response: ServedResponse): ReadyAnswer {
  const headers: string[] = []
  if (response.contentType !== null) headers.push('Content-Type', response.contentType)
  for (const [name, value] of response.headers) headers.push(name, value)
  // RFC 9110 §15.3.5, §15.3.6: 204 has no body and no length, 205 has a body of length 0.
  if (response.status !== 204) headers.push('Content-Length', String(Buffer.byteLength(response.body)))
  return new ReadyAnswer(response.status, headers, response.body)
}

/** Lets a page read all of an answer. */
const READABLE = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', '*']

/**
 * The answer to a preflight, which asks whether a page may send: any method and any header. `*` stands for every header
 * but `Authorization` (Fetch §4.10).
 */
export const PREFLIGHT = answerOf({
  status: 204,
  contentType: null,
  headers: [
    ['Access-Control-Allow-Origin', '*'],
    ['Access-Control-Allow-Methods', '*'],
    ['Access-Control-Allow-Headers', '*, Authorization'],
    ['Access-Control-Max-Age', '600'],
    ...OWN_ANSWER_HEADERS,
  ],
  body: '',
})

/** Whether a browser asks if a page may send. */
export function isPreflight({ method, fields }: RequestHead): boolean {
  return (
    method === 'OPTIONS' && fields.some(([name]) => name.toLowerCase() === 'access-control-request-method')
  )
}

/** An answer as an endpoint gives it: to pages of any origin, if it allows them and the answer does not name another. */
export function allowed(answer: ReadyAnswer, settings: CaptureSettings | undefined): ReadyAnswer {
  const isClosed = settings?.allowCors !== true || answer.has('access-control-allow-origin')
  return isClosed ? answer : answer.with(READABLE)
}

/** Whether a capture may get another answer than its endpoint's own. The answer of a handshake comes first. */
export function hasScript(result: CaptureResult): result is AnsweredCapture {
  const isCommitted = result.state === 'stored' || result.state === 'discarded'
  return isCommitted && result.capture.settings.script !== null && result.capture.handshake === null
}

/**
 * Chooses the answer to a committed capture, waits for it and sends it. The body is let go before the wait. If the
 * sender has gone, its place is free at once.
 */
export async function answerScripted(
  exchange: WireExchange,
  { captures, share }: { readonly captures: Captures; readonly share: Pick<BodyShare, 'release'> },
  result: AnsweredCapture,
): Promise<void> {
  const wait = await captures.chooseAnswer(result).finally(() => share.release())
  const { served, close } = await wait(exchange)
  const answer = allowed(answerOf(served), result.capture.settings)
  if (close === 'reset') exchange.abort()
  else if (close === 'mid-body') exchange.answerHalf(answer)
  else exchange.answer(answer, true)
}
