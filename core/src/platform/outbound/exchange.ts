import { type Dispatcher, errors } from 'undici/index.js'
import type { WireHeader } from '../../engine/message/index.ts'
import { DialError, type DialOutcome } from './dial.ts'

/** The most interim responses that are read. Thousands arrive at once, and are read in one turn of the event loop. */
const INTERIM_MAX = 32
/** The most pieces of a body that are read. Chunks of one byte arrive at once, too, and cost as much as long ones. */
const PIECES_MAX = 10_000

export interface Response {
  readonly outcome: 'response'
  readonly statusCode: number
  /** Wire order, spelling and repeats; values are latin1 byte strings. */
  readonly headers: readonly WireHeader[]
  /** As received: never decompressed, never decoded. */
  readonly body: Uint8Array
  /**
   * The body was longer than the limit, came in very many pieces, or had not ended when the time was up or the
   * connection broke.
   */
  readonly bodyTruncated: boolean
}

/** The reason why there is no response. `detail` is a short text for display, without secrets. */
export interface NoResponse {
  readonly outcome: DialOutcome | 'timeout' | 'reset' | 'aborted' | 'unsendable'
  readonly detail: string
  /** The connection ended, and nothing that could be read as a part of an answer came before. */
  readonly isUnanswered?: boolean
}

interface ExchangeLimits {
  readonly totalTimeoutMs: number
  readonly maxResponseBytes: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends one request through a dispatcher and waits for its answer. Never rejects.
 *
 * Once a status line has arrived the result is a response, whatever happens to its body: the receiver has decided, and
 * an endless body must not turn a 2xx into a failure.
 */
export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  limits: ExchangeLimits,
): Promise<Response | NoResponse> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined
    let head: Pick<Response, 'statusCode' | 'headers'> | undefined
    let body = new Uint8Array()
    let size = 0
    let pieces = 0
    let interim = 0
    let settled = false

    const settle = (result: Response | NoResponse) => {
      if (settled) return
      settled = true
      clearTimeout(timer)
      limits.signal?.removeEventListener('abort', onAbort)
      resolve(result)
    }
    const finish = (bodyTruncated: boolean, otherwise: NoResponse) =>
      settle(
        head === undefined
          ? otherwise
          : { outcome: 'response', ...head, body: body.subarray(0, size), bodyTruncated },
      )
    const cut = (otherwise: NoResponse) => {
      finish(true, otherwise)
      controller?.abort(new Error(otherwise.detail))
    }
    const onAbort = () => cut({ outcome: 'aborted', detail: 'the sender stopped' })
    const timer = setTimeout(
      () => cut({ outcome: 'timeout', detail: `no response within ${limits.totalTimeoutMs} ms` }),
      limits.totalTimeoutMs,
    )
    if (limits.signal?.aborted === true) return onAbort()
    limits.signal?.addEventListener('abort', onAbort)

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started
        // The timeout expired before the connection was open: nothing may be sent any more.
        if (settled) started.abort(new Error('the time was up'))
      },
      onResponseStart(started, statusCode) {
        // 100, 102 and 103 are interim responses.
        if (statusCode < 100) cut(NOT_HTTP)
        else if (statusCode >= 200) head = { statusCode, headers: wireHeaders(started.rawHeaders) }
        else if (++interim > INTERIM_MAX) cut({ outcome: 'reset', detail: 'too many interim responses' })
      },
      onResponseData(_, chunk) {
        const taken = chunk.subarray(0, limits.maxResponseBytes - size)
        const end = size + taken.length
        if (end > body.length) body = grown(body, end, limits.maxResponseBytes)
        // A copy: undici reuses the memory of its parser.
        body.set(taken, size)
        size = end
        if (taken.length < chunk.length || ++pieces > PIECES_MAX)
          cut({ outcome: 'reset', detail: 'the response was too long' })
      },
      onResponseEnd: () => finish(false, { outcome: 'reset', detail: 'no response' }),
      onResponseError: (_, error) => finish(true, failureOf(error)),
    }
    try {
      dispatcher.dispatch(options, handler)
    } catch (error) {
      settle(failureOf(error))
    }
  })
}

/** Bytes with room for as many as `end`: exactly so many at first, later for some of those that may follow. */
function grown(bytes: Uint8Array, end: number, max: number): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(Math.max(end, Math.min(bytes.length * 2, max)))
  longer.set(bytes)
  return longer
}

const NOT_HTTP: NoResponse = { outcome: 'reset', detail: 'the response is not HTTP/1.1' }

const CLOSED_CODES: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

function failureOf(error: unknown): NoResponse {
  if (error instanceof DialError) return { outcome: error.outcome, detail: error.detail }
  const message = error instanceof Error ? error.message : ''
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED')
    return { outcome: 'unsendable', detail: message }
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return { outcome: 'reset', detail: 'the response headers are too long' }
  // A 101 without a request to upgrade.
  if (message === 'bad upgrade') return { outcome: 'reset', detail: 'the receiver switched protocols' }
  // Undici often leaves out the code of its parser.
  if (error instanceof errors.HTTPParserError || error instanceof errors.ResponseContentLengthMismatchError)
    return NOT_HTTP
  const isUnanswered = CLOSED_CODES.has(code)
  return { outcome: 'reset', detail: 'the connection was closed before a response arrived', isUnanswered }
}

/** Converts undici's flat list of raw fields: name, value, name, value. */
function wireHeaders(raw: Dispatcher.DispatchController['rawHeaders']): WireHeader[] {
  const headers: WireHeader[] = []
  if (!Array.isArray(raw)) return headers
  for (let i = 0; i + 1 < raw.length; i += 2) headers.push([latin1(raw[i]), latin1(raw[i + 1])])
  return headers
}

function latin1(value: Buffer | string | undefined): string {
  return Buffer.isBuffer(value) ? value.toString('latin1') : (value ?? '')
}

/** The `User-Agent` of outbound requests. */
export function userAgent(version: string): WireHeader {
  return ['User-Agent', `creel/${version}`]
}
