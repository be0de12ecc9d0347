import { OWN_ANSWER_HEADERS, type ServedResponse } from '@creel/core/endpoints'
import { ReadyAnswer } from '../http/readyAnswer.ts'

/** `Retry-After` of a sender while nothing can be stored. */
const UNAVAILABLE_SECONDS = 2

/** No such endpoint. */
export const NOT_FOUND = ownAnswer(404, 'not_found')
/** The endpoint accepts verified captures only. */
export const UNVERIFIED = ownAnswer(401, 'unverified')
/** The endpoint does not accept captures from this sender. */
export const FOREIGN = ownAnswer(403, 'sender_not_allowed')
const UNAVAILABLE = ownAnswer(503, 'unavailable', UNAVAILABLE_SECONDS)

/**
 * The capture cannot be stored now.
 *
 * @param retryAfterSeconds until the backlog of the endpoint's workspace has been evaluated; 2 by default
 */
export function unavailable(retryAfterSeconds: number = UNAVAILABLE_SECONDS): ReadyAnswer {
  return retryAfterSeconds === UNAVAILABLE_SECONDS
    ? UNAVAILABLE
    : ownAnswer(503, 'unavailable', retryAfterSeconds)
}

/** @param retryAfterSeconds until the endpoint's rate window ends */
export function rateLimited(retryAfterSeconds: number): ReadyAnswer {
  return ownAnswer(429, 'rate_limited', retryAfterSeconds)
}

function ownAnswer(status: number, error: string, retryAfterSeconds?: number): ReadyAnswer {
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
