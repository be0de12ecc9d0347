import type { Clock, Services } from '@creel/core'
import {
  type CaptureResult,
  type CaptureSettings,
  type Captures,
  countBodyBytes,
  countCapture,
  type EvaluatedCapture,
} from '@creel/core/capture'
import { OWN_ANSWER_HEADERS } from '@creel/core/endpoints'
import type { CapturedRequest } from '@creel/core/engine/message'
import { shownAddress } from '@creel/core/engine/storing'
import { isDatabaseOutage } from '@creel/core/platform/db'
import { noteOutage } from '../callLog.ts'
import type { RequestHandler, WireExchange } from '../http/exchange.ts'
import type { ReadyAnswer } from '../http/readyAnswer.ts'
import { pathOf } from '../http/requestHead.ts'
import { isForwarded } from '../strangers/forwarding.ts'
import { nextTurn, type Strangers } from '../strangers/strangers.ts'
import { createBodyBudget } from './bodyBudget.ts'
import {
  allowed,
  answerOf,
  answerScripted,
  FOREIGN,
  hasScript,
  isPreflight,
  NOT_FOUND,
  PREFLIGHT,
  rateLimited,
  UNVERIFIED,
  unavailable,
} from './captureAnswers.ts'
import { type CapturedBody, receiveBody } from './capturedBody.ts'
import { type CaptureTarget, parseTarget } from './captureTarget.ts'

export interface CaptureOptions {
  readonly captures: Captures
  readonly clock: Clock
  /** Addresses that send to unknown capture URLs too often. */
  readonly strangers: Strangers
  /** Gateway processes of the program, which divide the memory for bodies. */
  readonly processes: number
  /** Gets a line for each capture, at `debug`. */
  readonly log: Services['log']
  /** Receives the error behind a failed capture; its sender sees only a short answer. */
  readonly onError: (error: unknown) => void
}

/**
 * Limit of memory for bodies that are arriving or waiting to be stored, in all gateway processes of the program. One
 * endpoint, and one address, may use an eighth of it. The processes divide it: a body without room waits.
 */
const BUFFERED_BYTES_MAX = 512 * 1024 * 1024
const BUFFERED_BYTES_SHARE = BUFFERED_BYTES_MAX / 8
/** Maximum wait of a body for its share of the memory. Then the sender is answered 503 with `Retry-After`. */
const ROOM_WAIT_MS = 10_000

/**
 * Creates the handler of capture requests: finds the endpoint, reads the body, has it stored, and answers after the
 * commit. A request to an unknown endpoint is answered at once, without reading its body.
 */
export function createCaptureHandler({
  captures,
  clock,
  strangers,
  processes,
  log,
  onError,
}: CaptureOptions): RequestHandler {
  const conclude = (exchange: WireExchange, result: CaptureResult, settings?: CaptureSettings) => {
    answerCapture(exchange, result, settings)
    if (log.isLevelEnabled('debug')) logCapture(log, exchange, result, settings)
  }

  const budget = createBodyBudget({
    bytesMax: BUFFERED_BYTES_MAX / processes,
    shareBytesMax: BUFFERED_BYTES_SHARE / processes,
    waitMs: ROOM_WAIT_MS,
  })
  countBodyBytes(() => budget.takenBytes)

  const receive = (exchange: WireExchange, target: CaptureTarget, settings: CaptureSettings) => {
    const foreign = captures.refuseForeign(settings, exchange.address)
    if (foreign !== undefined) return finish(exchange, refuseForeign(exchange, { settings, target }, foreign))
    if (isPreflight(exchange.head)) return finish(exchange, receivePreflight(exchange, target, settings))
    receiveCapture(exchange, target, settings)
  }

  const receiveCapture = (exchange: WireExchange, target: CaptureTarget, settings: CaptureSettings) => {
    const refusal = captures.refuseEarly(settings)
    if (refusal === undefined) receiveBodyOf(exchange, target, settings)
    else finish(exchange, refuseUnread(exchange, target, settings, refusal))
  }

  /** Whether a preflight is captured depends on the settings, so the database is asked whether they are still true. */
  const receivePreflight = async (
    exchange: WireExchange,
    target: CaptureTarget,
    settings: CaptureSettings,
  ) => {
    const state = await captures.checkSettings(settings, target.captureId)
    if (state === 'stale') await receiveUnknown(exchange, target)
    else if (state === 'gone') concludeGone(exchange)
    else if (settings.allowCors) exchange.answer(PREFLIGHT, true)
    else receiveCapture(exchange, target, settings)
  }

  const finish = (exchange: WireExchange, work: Promise<void>) => {
    work.catch((error: unknown) => fail(exchange, error))
  }

  /**
   * An error concerns only this capture. It is logged once, and the sender is answered 503 with `Retry-After`, unless it
   * has its answer. Never throws: an unhandled rejection would end the process.
   */
  const fail = (exchange: WireExchange, error: unknown) => {
    if (isDatabaseOutage(error)) noteOutage(log, error)
    else onError(error)
    try {
      answerCapture(exchange, { state: 'unavailable' })
    } catch (unanswered) {
      onError(unanswered)
    }
  }

  const refuseForeign = async (
    exchange: WireExchange,
    { settings, target }: { readonly settings: CaptureSettings; readonly target: CaptureTarget },
    refusal: Promise<CaptureResult | undefined>,
  ) => {
    const result = await refusal
    if (result === undefined) await receiveUnknown(exchange, target)
    else if (result.state === 'gone') concludeGone(exchange)
    else conclude(exchange, result, settings)
  }

  const refuseUnread = async (
    exchange: WireExchange,
    target: CaptureTarget,
    settings: CaptureSettings,
    refusal: ReturnType<Captures['refuseEarly']>,
  ) => {
    const result = await refusal
    if (result === undefined) receiveBodyOf(exchange, target, settings)
    else conclude(exchange, result, settings)
  }

  const receiveBodyOf = (exchange: WireExchange, target: CaptureTarget, settings: CaptureSettings) => {
    const share = budget.open(settings.endpointId, exchange.address)
    const store = async (body: CapturedBody): Promise<void> => {
      let isScripted = false
      try {
        const captured = capturedRequest(exchange, { settings, target }, body, clock.now())
        const result = await captures.capture(settings, captured, {
          captureId: target.captureId,
          sender: exchange,
        })
        if (result.state === 'gone') concludeGone(exchange)
        else if (hasScript(result)) {
          isScripted = true
          countResult(result)
          if (log.isLevelEnabled('debug')) logCapture(log, exchange, result, settings)
          return answerScripted(exchange, { captures, share }, result)
        } else conclude(exchange, result, settings)
      } finally {
        if (!isScripted) share.release()
      }
    }
    receiveBody(
      exchange,
      { bytesMax: settings.payloadBytesMax, share },
      {
        onBody: (body) => finish(exchange, store(body)),
        onRefused: () => conclude(exchange, { state: 'unavailable' }, settings),
        onError: (error) => fail(exchange, error),
      },
    )
  }

  const receiveUnknown = async (exchange: WireExchange, target: CaptureTarget) => {
    // The endpoint may still exist. Then the capture is delayed, not refused.
    if (strangers.waitOf(exchange.address) !== undefined) await nextTurn()
    const settings = await captures.findSettings(target.captureId)
    if (settings === undefined) concludeGone(exchange)
    else receive(exchange, target, settings)
  }

  const concludeGone = (exchange: WireExchange) => {
    const retryAfterSeconds = strangers.waitOf(exchange.address)
    strangers.note(exchange.address, isForwarded(exchange.head.fields.map(([name]) => name)))
    conclude(
      exchange,
      retryAfterSeconds === undefined ? { state: 'gone' } : { state: 'limited', retryAfterSeconds },
    )
  }

  const handle: RequestHandler = (exchange) => {
    const target = parseTarget(pathOf(exchange.head.target))
    if (target === undefined) {
      concludeGone(exchange)
      return
    }
    const settings = captures.peekSettings(target.captureId)
    if (settings === undefined) finish(exchange, receiveUnknown(exchange, target))
    else receive(exchange, target, settings)
  }

  return (exchange) => {
    try {
      handle(exchange)
    } catch (error) {
      fail(exchange, error)
    }
  }
}

function capturedRequest(
  { head, address }: WireExchange,
  { settings, target }: { readonly settings: CaptureSettings; readonly target: CaptureTarget },
  body: CapturedBody,
  receivedAt: Date,
): CapturedRequest {
  return {
    endpointId: settings.endpointId,
    path: target.path,
    queryString: target.queryString,
    receivedAt,
    method: head.method,
    headers: body.trailers.length === 0 ? head.fields : [...head.fields, ...body.trailers],
    contentType: head.contentType,
    body: body.bytes,
    sizeBytes: body.sizeBytes,
    bodyTruncated: body.truncated,
    ip: address,
  }
}

const configuredAnswers = new WeakMap<CaptureSettings, ReadyAnswer>()

function answerTo(result: CaptureResult): ReadyAnswer {
  switch (result.state) {
    case 'stored':
    case 'discarded':
      return storedAnswer(result.capture)
    case 'gone':
      return NOT_FOUND
    case 'limited':
      return rateLimited(result.retryAfterSeconds)
    case 'unverified':
      return UNVERIFIED
    case 'foreign':
      return FOREIGN
    case 'unavailable':
      return unavailable(result.retryAfterSeconds)
  }
}

/**
 * A handshake's response replaces the configured one. Headers that every capture answer carries are added to it, too.
 */
function storedAnswer({ settings, handshake }: EvaluatedCapture): ReadyAnswer {
  if (handshake !== null) {
    return answerOf({ ...handshake, headers: [...handshake.headers, ...OWN_ANSWER_HEADERS] })
  }
  const known = configuredAnswers.get(settings)
  if (known !== undefined) return known
  const answer = answerOf(settings.response)
  configuredAnswers.set(settings, answer)
  return answer
}

/** The names of {@link CaptureResult}s in metrics. */
const COUNTED_AS = {
  stored: 'stored',
  discarded: 'discarded',
  gone: 'not_found',
  limited: 'rate_limited',
  unverified: 'unverified',
  foreign: 'sender_not_allowed',
  unavailable: 'unavailable',
} as const

function countResult(result: CaptureResult): void {
  const isOversize = result.state === 'stored' && result.capture.row.bodyTruncated
  countCapture(isOversize ? 'oversize' : COUNTED_AS[result.state])
}

/** Counts the result of a capture and answers its sender. The rest of a refused body need not be read. */
function answerCapture(exchange: WireExchange, result: CaptureResult, settings?: CaptureSettings): void {
  countResult(result)
  exchange.answer(allowed(answerTo(result), settings), true)
}

/** Neither query, headers nor body: they may hold secrets. */
function logCapture(
  log: Services['log'],
  exchange: WireExchange,
  result: CaptureResult,
  settings: CaptureSettings | undefined,
): void {
  const { head, traceId, address } = exchange
  const stored = 'capture' in result ? result.capture : undefined
  log.debug(
    {
      traceId,
      endpointId: settings?.endpointId ?? parseTarget(pathOf(head.target))?.captureId,
      method: head.method,
      outcome: result.state,
      requestId: result.state === 'stored' ? (result.id ?? undefined) : undefined,
      sizeBytes: stored?.row.sizeBytes,
      verdict: stored?.row.verdict ?? undefined,
      dispatch: stored?.dispatchState,
      durationMs:
        stored === undefined ? undefined : Math.max(0, Date.now() - stored.row.receivedAt.getTime()),
      address: shownAddress(settings?.storing ?? null, address),
    },
    'capture',
  )
}
