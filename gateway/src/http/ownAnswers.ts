import { STATUS_CODES } from 'node:http'
import { DomainError, type ErrorCode, toProblem } from '@creel/core'
import { OWN_ANSWER_HEADERS } from '@creel/core/endpoints'
import { ReadyAnswer } from './readyAnswer.ts'
import { pathOf } from './requestHead.ts'

/** Statuses that the listener answers itself, each with its text for paths below `/api/`. */
const OWN = {
  400: { code: 'request_invalid', detail: 'The request is not valid HTTP/1.1.' },
  405: { code: 'method_not_allowed', detail: 'The method is not known.' },
  431: { code: 'request_invalid', detail: 'The head of the request is too long, or has too many fields.' },
  500: { code: 'internal_error', detail: 'The service could not answer this request.' },
  503: { code: 'unavailable', detail: 'Too many connections from this address.' },
  505: { code: 'request_invalid', detail: 'Only HTTP/1.0 and HTTP/1.1 are supported.' },
} as const satisfies Record<number, { code: ErrorCode; detail: string }>

/** A status that the listener answers itself. */
export type OwnStatus = keyof typeof OWN

const RETRY_AFTER_SECONDS = 1
const HEADERS = OWN_ANSWER_HEADERS.flat()
const empty = new Map<OwnStatus, ReadyAnswer>()

/** Whether a target is below `/api/`, where every refusal is a problem. */
export function isOfApi(target: string): boolean {
  return pathOf(target).startsWith('/api/')
}

/**
 * The listener's own answer to a request that no handler answers. It carries the headers of every capture answer, and
 * has no body; below `/api/` it is a problem.
 *
 * @param target of the request, or the part that has arrived; undefined when unknown
 */
export function ownAnswer(status: OwnStatus, target: string | undefined, traceId: string): ReadyAnswer {
  if (target !== undefined && isOfApi(target)) return problem(status, traceId)
  const known = empty.get(status)
  if (known !== undefined) return known
  const answer = new ReadyAnswer(status, [...headersOf(status), 'Content-Length', '0'], '')
  empty.set(status, answer)
  return answer
}

function problem(status: OwnStatus, traceId: string): ReadyAnswer {
  const { code, detail } = OWN[status]
  const title = STATUS_CODES[status] ?? ''
  const body = JSON.stringify({ ...toProblem(new DomainError(code, detail), { traceId }), title, status })
  const length = String(Buffer.byteLength(body))
  const headers = ['Content-Type', 'application/problem+json', 'Content-Length', length]
  return new ReadyAnswer(status, [...headersOf(status), ...headers], body)
}

function headersOf(status: OwnStatus): string[] {
  return status === 503 ? ['Retry-After', String(RETRY_AFTER_SECONDS), ...HEADERS] : HEADERS
}
