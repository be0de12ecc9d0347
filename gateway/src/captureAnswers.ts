import type { IncomingMessage, ServerResponse } from 'node:http'
import { OWN_ANSWER_HEADERS, type ServedResponse } from '@creel/core/endpoints'

/** An answer as node:http writes it, worked out once and sent any number of times. */
export interface CaptureAnswer {
  readonly status: number
  /** Names and values in turn, so that repeats and their order survive. */
  readonly headers: string[]
  readonly body: string
}

/** When a sender is to try again while nothing can be stored. */
const UNAVAILABLE_SECONDS = 2

/** CONTRACT R8. */
export const NOT_FOUND = ownAnswer(404, 'not_found')
export const UNAVAILABLE = ownAnswer(503, 'unavailable', UNAVAILABLE_SECONDS)

/** @param retryAfterSeconds until the endpoint's rate window ends */
export function rateLimited(retryAfterSeconds: number): CaptureAnswer {
  return ownAnswer(429, 'rate_limited', retryAfterSeconds)
}

function ownAnswer(status: number, error: string, retryAfterSeconds?: number): CaptureAnswer {
  const retryAfter =
    retryAfterSeconds === undefined ? [] : ([['Retry-After', String(retryAfterSeconds)]] as const)
  const headers = [...retryAfter, ...OWN_ANSWER_HEADERS]
  return answerOf({ status, contentType: 'application/json', headers, body: JSON.stringify({ error }) })
}

/** The answer that a configured response, or a handshake, is served as. */
export function answerOf(response: ServedResponse): CaptureAnswer {
  const headers: string[] = []
  if (response.contentType !== null) headers.push('Content-Type', response.contentType)
  for (const [name, value] of response.headers) headers.push(name, value)
  // RFC 9110 §15.3.5, §15.3.6: 204 has no body and no length, 205 has a body of length 0.
  if (response.status !== 204) headers.push('Content-Length', String(Buffer.byteLength(response.body)))
  return { status: response.status, headers, body: response.body }
}

/** Sends the answer, unless the sender has gone. */
export function sendAnswer(request: IncomingMessage, response: ServerResponse, answer: CaptureAnswer): void {
  if (response.destroyed) return
  response.writeHead(answer.status, answer.headers)
  if (answer.body === '' || request.method === 'HEAD') response.end()
  else response.end(answer.body)
}
