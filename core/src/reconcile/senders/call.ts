import type { Services } from '../../api/services.ts'
import { headerValues, httpDate, type WireHeader } from '../../engine/message/index.ts'
import { countPiece } from '../../platform/memory/index.ts'
import { type Response, userAgent } from '../../platform/outbound/index.ts'
import { PAGE_BYTES_MAX, WAIT_MS_MIN } from '../declarations.ts'
import type { Answer, Failure, RunErrorCode } from './sender.ts'

/** Services that a call to a sender needs. */
export type CallServices = Pick<Services, 'outbound' | 'clock' | 'version' | 'stopping'>

/** An answer of status 2xx. */
export interface Accepted {
  /** Empty where `isTooLong`. */
  readonly text: string
  /** It is longer than {@link PAGE_BYTES_MAX}. */
  readonly isTooLong: boolean
  readonly headers: readonly WireHeader[]
}

/** Copies of a page in memory until garbage collection: as pieces, as one, as text and as values. */
const PIECES = 4

const REFUSALS: Readonly<Record<number, RunErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
}

/** Time limit of a call, from dialling to the last byte read. */
const TIMEOUT_MS = 15_000

/**
 * Calls a sender's API through the address checks of all outbound requests. `Retry-After` and `X-RateLimit-Reset`
 * decide whether a refusal is temporary, as the references of both senders describe. Never throws.
 */
export async function callSender(
  { outbound, clock, version, stopping }: CallServices,
  method: 'GET' | 'POST',
  url: string,
  headers: readonly WireHeader[],
): Promise<Answer<Accepted>> {
  const result = await outbound.send({
    method,
    url,
    headers: [userAgent(version), ...headers],
    body: null,
    totalTimeoutMs: TIMEOUT_MS,
    maxResponseBytes: PAGE_BYTES_MAX,
    // Only reads are cancelled when the process stops: another process repeats them. A write must not be left in doubt.
    signal: method === 'GET' ? stopping : undefined,
  })
  if (result.outcome !== 'response') {
    const failure: Failure = { code: 'unreachable', detail: `${result.outcome}: ${result.detail}` }
    if (result.outcome === 'unsendable' || result.outcome === 'loop') return { outcome: 'failed', failure }
    // With these outcomes the request may have reached the sender.
    const isSent = result.outcome === 'timeout' || result.outcome === 'reset' || result.outcome === 'aborted'
    return { outcome: isSent ? 'unknown' : 'again', failure }
  }
  const { statusCode } = result
  if (statusCode >= 200 && statusCode < 300) {
    const { body, bodyTruncated } = result
    const isTooLong = bodyTruncated && body.length >= PAGE_BYTES_MAX
    if (bodyTruncated && !isTooLong)
      return { outcome: 'again', failure: { code: 'unreachable', detail: 'The answer broke off.' } }
    countPiece(body.length * PIECES)
    const text = isTooLong ? '' : new TextDecoder().decode(body)
    return { outcome: 'ok', value: { text, isTooLong, headers: result.headers } }
  }
  const wait = waitOf(result, clock.now())
  if (wait !== undefined) return { outcome: 'wait', milliseconds: wait }
  const detail = `The sender answered ${statusCode}.`
  if (statusCode === 429) return { outcome: 'again', failure: { code: 'rate_limited', detail } }
  if (statusCode >= 500) return { outcome: 'again', failure: { code: 'sender_failed', detail } }
  return { outcome: 'failed', failure: { code: REFUSALS[statusCode] ?? 'sender_failed', detail } }
}

/** The refusal of an answer that is not what the sender's reference describes. */
export function badAnswer(detail: string): Answer<never> {
  return { outcome: 'failed', failure: { code: 'bad_answer', detail } }
}

/** The refusal of a page that ignores its limit: a run stores and compares no more at once than it asked for. */
export function tooMany(noun: string, asked: number): Answer<never> {
  return badAnswer(`The sender answered more ${noun} than the ${asked} that were asked for.`)
}

/** Time that a rate limit asks to wait; undefined if the answer names none. */
function waitOf({ statusCode, headers }: Response, now: Date): number | undefined {
  if (statusCode !== 429 && statusCode !== 403) return undefined
  const fieldOf = (name: string) => headerValues(headers, name)[0]?.trim() ?? ''
  const asked = fieldOf('retry-after')
  if (/^\d{1,9}$/.test(asked)) return Math.max(WAIT_MS_MIN, Number(asked) * 1000)
  const until = /[a-z]/i.test(asked) ? httpDate(asked) : Number.NaN
  if (!Number.isNaN(until)) return Math.max(WAIT_MS_MIN, until - now.getTime())
  const reset = fieldOf('x-ratelimit-reset')
  const isSpent = fieldOf('x-ratelimit-remaining') === '0' && /^\d{1,12}$/.test(reset)
  return isSpent ? Math.max(WAIT_MS_MIN, Number(reset) * 1000 - now.getTime()) : undefined
}
