import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@creel/core'
import type { CaptureResult, CaptureSettings, Captures, JudgedCapture } from '@creel/core/capture'
import { OWN_ANSWER_HEADERS } from '@creel/core/endpoints'
import type { CapturedRequest, WireHeader } from '@creel/core/engine/message'
import { captures as captureCounter } from '@creel/core/platform/metrics'
import {
  answerOf,
  type CaptureAnswer,
  NOT_FOUND,
  rateLimited,
  sendAnswer,
  UNAVAILABLE,
} from './captureAnswers.ts'
import { type CapturedBody, createBodyBudget, receiveBody } from './capturedBody.ts'
import type { ClientAddress } from './clientAddress.ts'
import { pathOf } from './fetchAdapter.ts'
import type { CaptureHandler } from './listener.ts'

export interface CaptureOptions {
  readonly captures: Captures
  readonly clock: Clock
  readonly clientAddress: ClientAddress
}

/** What a target under `/hook/` names. */
interface CaptureTarget {
  /** Lower case. */
  readonly endpointId: string
  /** The raw part after the id, `''` when none. */
  readonly path: string
  /** Raw, without `?`; null when the target had none. */
  readonly queryString: string | null
}

/** Of all bodies that are arriving or waiting to be stored. */
const BUFFERED_BYTES_MAX = 512 * 1024 * 1024
/** What is kept of the headers (CONTRACT §3, `rawHeaders`). */
const HEADERS_KEPT_MAX = 200
const HEADER_BYTES_KEPT_MAX = 65_536

const TARGET = /^\/hook\/([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(\/[^?]*)?(?:\?(.*))?$/s

/**
 * Takes what senders send. Every answer, refusals too, waits for the end of the request: Bun takes no further request
 * from a connection on which an answer overtook it.
 */
export function createCaptureHandler({ captures, clock, clientAddress }: CaptureOptions): CaptureHandler {
  const budget = createBodyBudget(BUFFERED_BYTES_MAX)

  const receive = (
    request: IncomingMessage,
    response: ServerResponse,
    target: CaptureTarget,
    settings: CaptureSettings,
  ) => {
    const release = receiveBody(request, { bytesMax: settings.payloadBytesMax, budget }, (body) => {
      if (body === undefined) return conclude(request, response, { state: 'unavailable' })
      const captured = capturedRequest(request, target, body, { receivedAt: clock.now(), clientAddress })
      captures
        .capture(settings, captured)
        .then((result) => conclude(request, response, result))
        .finally(release)
    })
  }

  return (request, response) => {
    const target = parseTarget(pathOf(request.url ?? ''))
    if (target === undefined) return concludeAtEnd(request, response, { state: 'gone' })
    const settings = captures.peekSettings(target.endpointId)
    if (settings !== undefined) return receive(request, response, target, settings)
    request.pause()
    captures.findSettings(target.endpointId).then(
      (found) => {
        if (found === undefined) concludeAtEnd(request, response, { state: 'gone' })
        else receive(request, response, target, found)
        request.resume()
      },
      () => {
        concludeAtEnd(request, response, { state: 'unavailable' })
        request.resume()
      },
    )
  }
}

/** @returns undefined when there is no well-formed id */
export function parseTarget(path: string): CaptureTarget | undefined {
  const [, endpointId, suffix = '', queryString = null] = TARGET.exec(path) ?? []
  return endpointId === undefined
    ? undefined
    : { endpointId: endpointId.toLowerCase(), path: suffix, queryString }
}

function capturedRequest(
  request: IncomingMessage,
  target: CaptureTarget,
  body: CapturedBody,
  { receivedAt, clientAddress }: { receivedAt: Date; clientAddress: ClientAddress },
): CapturedRequest {
  const fields = fieldsOf(request.rawHeaders)
  return {
    ...target,
    receivedAt,
    method: request.method ?? '',
    headers: keptHeaders(fields),
    contentType: fields.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? null,
    body: body.bytes,
    sizeBytes: body.sizeBytes,
    bodyTruncated: body.truncated,
    ip: clientAddress(
      request.socket.remoteAddress,
      fields.filter(([name]) => name.toLowerCase() === 'x-forwarded-for').map(([, value]) => value),
    ),
  }
}

/** node:http hands names and values over in turn. */
function fieldsOf(rawHeaders: readonly string[]): WireHeader[] {
  const fields: WireHeader[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    fields.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? ''])
  }
  return fields
}

/** As many of the first as fit. */
function keptHeaders(fields: readonly WireHeader[]): readonly WireHeader[] {
  let bytes = 0
  const end = fields.findIndex(([name, value], index) => {
    bytes += name.length + value.length
    return index >= HEADERS_KEPT_MAX || bytes > HEADER_BYTES_KEPT_MAX
  })
  return end < 0 ? fields : fields.slice(0, end)
}

const configuredAnswers = new WeakMap<CaptureSettings, CaptureAnswer>()

function answerTo(result: CaptureResult): CaptureAnswer {
  switch (result.state) {
    case 'stored':
      return storedAnswer(result.capture)
    case 'gone':
      return NOT_FOUND
    case 'limited':
      return rateLimited(result.retryAfterSeconds)
    case 'unavailable':
      return UNAVAILABLE
  }
}

/** A handshake's answer stands in for the configured one; what every capture answer carries, it carries too. */
function storedAnswer({ settings, handshake }: JudgedCapture): CaptureAnswer {
  if (handshake !== null) {
    return answerOf({ ...handshake, headers: [...handshake.headers, ...OWN_ANSWER_HEADERS] })
  }
  const known = configuredAnswers.get(settings)
  if (known !== undefined) return known
  const answer = answerOf(settings.response)
  configuredAnswers.set(settings, answer)
  return answer
}

/** Concludes when the whole request has arrived, of which nothing is kept. */
function concludeAtEnd(request: IncomingMessage, response: ServerResponse, result: CaptureResult): void {
  request.on('end', () => conclude(request, response, result))
  request.resume()
}

const counters = {
  stored: captureCounter.labels('stored'),
  oversize: captureCounter.labels('oversize'),
  gone: captureCounter.labels('not_found'),
  limited: captureCounter.labels('rate_limited'),
  unavailable: captureCounter.labels('unavailable'),
}

/** Counts what became of a capture, and tells its sender. */
function conclude(request: IncomingMessage, response: ServerResponse, result: CaptureResult): void {
  const isOversize = result.state === 'stored' && result.capture.row.bodyTruncated
  counters[isOversize ? 'oversize' : result.state].inc()
  sendAnswer(request, response, answerTo(result))
}
