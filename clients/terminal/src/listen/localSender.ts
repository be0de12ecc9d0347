import { createHash } from 'node:crypto'
import { CONNECTION_FIELDS, type WholeRequest } from 'creel-client'
import { type CapturedTarget, fieldsAsSent, type TerminalTools } from '../tools.ts'
import { localTarget } from './localTarget.ts'

/** Default timeout for the local server's answer. */
const ANSWER_MILLISECONDS = 60_000

/** A kept connection that its server has closed is known to be closed by then: only a server that reads ends later. */
const STALE_MILLISECONDS = 250

/** Error of a request that is not sent, since its path might lead elsewhere. */
export const OUTSIDE_TARGET = 'unsendable: its path would leave the base path of the target'

/** Result of sending a request to the local server. */
export interface LocalAnswer {
  readonly method: string
  readonly url: string
  readonly at: string
  readonly durationMs: number
  readonly statusCode: number | null
  /** Why there is no status, as text; null when there is one. */
  readonly error: string | null
  /** Nothing was sent: no server listens on the port. */
  readonly isRefused: boolean
  /** Nothing was sent, and a retry is useless: HTTP/1.1 cannot express this request to this target. */
  readonly isUnsendable: boolean
  readonly deliveryId: string
  readonly sent: LocalMessage
  readonly received: LocalMessage | null
}

/** The request or the response of a send. Header values are text. */
export interface LocalMessage {
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
}

/** Sends captured requests to a server that this machine can reach. */
export interface LocalSender {
  /** The target as a URL, without path suffix and query of captures. */
  readonly url: string
  /** The URL that a captured request is sent to; undefined when it is not sent. */
  urlOf(captured: CapturedTarget): Promise<string | undefined>
  /** Sends one request to the target only; redirects are not followed. Errors are part of the answer; never throws. */
  send(request: WholeRequest, signal?: AbortSignal): Promise<LocalAnswer>
  close(): Promise<void>
}

interface LocalSenderOptions {
  /** A port, `host:port`, or an http or https URL. */
  readonly target: string
  /** Accepts any TLS certificate. */
  readonly skipVerify: boolean
  readonly answerMilliseconds?: number
  readonly openOutbound: TerminalTools['openOutbound']
}

/** Opens a sender. Connections are kept open between requests. */
export function createLocalSender({
  target,
  skipVerify,
  answerMilliseconds,
  openOutbound,
}: LocalSenderOptions): LocalSender {
  const { url, base } = localTarget(target)
  // Loaded while the command calls the service, which hides a tenth of a second.
  const opening = openOutbound(skipVerify)
  /** Connections that answered and may still be open; the next sends use them. */
  let keptCount = 0
  return {
    url,
    urlOf: async (captured) => (await opening).urlOf(base, captured),
    async send(request, signal) {
      const deliveryId = listenDeliveryId(request.endpointId, request.id)
      const body = Buffer.from(request.body ?? '', request.bodyIsBinary ? 'base64' : 'utf8')
      const at = new Date().toISOString()
      const outbound = await opening
      const destination = outbound.urlOf(base, request)
      if (destination === undefined) {
        const sent = { headers: [], body }
        const nothing = { statusCode: null, isRefused: false, isUnsendable: true, sent, received: null }
        const { method } = request
        return { method, url, at, durationMs: 0, deliveryId, error: OUTSIDE_TARGET, ...nothing }
      }
      const headers = headersOf(request, deliveryId)
      const once = () =>
        outbound.send({
          method: request.method,
          url: destination,
          headers,
          body,
          totalTimeoutMs: answerMilliseconds ?? ANSWER_MILLISECONDS,
          signal,
        })
      const isKept = keptCount > 0
      if (isKept) keptCount -= 1
      let result = await once()
      // Typical for a kept connection that the server has just closed. On a new one, later, or after a part of an answer,
      // the server has read the request, and may have ended by it.
      const isUnanswered = 'isUnanswered' in result && result.isUnanswered === true
      const isStale = isUnanswered && isKept && result.durationMs < STALE_MILLISECONDS
      if (isStale) result = await once()
      if (result.outcome === 'response') keptCount += 1
      const facts = {
        method: request.method,
        url: destination,
        at,
        durationMs: result.durationMs,
        deliveryId,
      }
      const sent = { headers: result.sentHeaders, body }
      if ('statusCode' in result) {
        const received = { headers: result.headers, body: result.body }
        const { statusCode } = result
        return { ...facts, statusCode, error: null, isRefused: false, isUnsendable: false, sent, received }
      }
      const isRefused = result.outcome === 'connect' || result.outcome === 'dns'
      const isUnsendable = result.outcome === 'unsendable'
      const error = `${result.outcome}: ${result.detail}`
      return { ...facts, statusCode: null, error, isRefused, isUnsendable, sent, received: null }
    },
    close: async () => (await opening).close(),
  }
}

/** The captured fields in their order and spelling, without those of the connection, then our own. */
function headersOf(request: WholeRequest, deliveryId: string): (readonly [string, string])[] {
  const named = new Set(
    request.rawHeaders
      .filter(({ name }) => name.toLowerCase() === 'connection')
      .flatMap(({ value }) => value.split(',').map((token) => token.trim().toLowerCase())),
  )
  const kept = request.rawHeaders.filter(({ name }) => {
    const field = name.toLowerCase()
    return (
      !CONNECTION_FIELDS.has(field) && !named.has(field) && !/^creel-(delivery|request|event)-id$/.test(field)
    )
  })
  return [
    ...fieldsAsSent(kept),
    ['creel-delivery-id', deliveryId],
    ['creel-request-id', String(request.id)],
    // One byte a character, the form in which fields are sent.
    ...(request.eventId
      ? [['creel-event-id', Buffer.from(request.eventId).toString('latin1')] as const]
      : []),
  ]
}

/** The namespace of these ids: a random one, fixed for ever. */
const NAMESPACE = Buffer.from('b61d3a7e4c0f4f6d9a27e85c11d05f32', 'hex')

/**
 * The `creel-delivery-id` of a captured request for a local server: a UUID of version 5 (RFC 9562 §5.5) from endpoint
 * and request, so that it is the same each time the request is sent.
 */
function listenDeliveryId(endpointId: string, requestId: number): string {
  const bytes = createHash('sha1')
    .update(NAMESPACE)
    .update(`${endpointId}/${requestId}`)
    .digest()
    .subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
