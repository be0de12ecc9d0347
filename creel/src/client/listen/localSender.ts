import type { Outbound } from '@creel/core/platform/outbound'
import { headerBytes } from '../api/requests.ts'
import type { RequestDetail } from '../api/shapes.ts'
import { listenDeliveryId } from './deliveryId.ts'
import { type CapturedTarget, localTarget } from './localTarget.ts'

/** How long a local server may take to answer unless the user says otherwise. */
const ANSWER_MILLISECONDS = 60_000

const OUTSIDE_TARGET = 'unsendable: its path could lead out of the base path of the target'

/** Fields that belong to the connection that the capture came over; the new connection brings its own. */
const OF_CONNECTION = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** What the local server made of a request. */
export interface LocalAnswer {
  readonly method: string
  readonly url: string
  /** When it was sent. */
  readonly at: string
  readonly durationMs: number
  readonly statusCode: number | null
  /** Why there is no status, in words; null when there is one. */
  readonly error: string | null
  /** Nothing was sent: there is no server at the port. */
  readonly isRefused: boolean
  /** Nothing was sent, and it never can be: no request of HTTP/1.1 to this target is like it. */
  readonly isUnsendable: boolean
  readonly deliveryId: string
  readonly sent: LocalMessage
  readonly received: LocalMessage | null
}

/** One side of the exchange. Header values are text. */
export interface LocalMessage {
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
}

/** Sends captured requests to a server that this machine can reach. */
export interface LocalSender {
  /** Where requests go, as a URL without path suffix and query of captures. */
  readonly url: string
  /** The URL that a captured request is sent to; undefined when it is not sent. See `LocalTarget`. */
  urlOf(captured: CapturedTarget): string | undefined
  /** Sends one, to the target and nowhere else, following no redirect. What goes wrong is part of the answer; nothing is thrown. */
  send(request: RequestDetail, signal?: AbortSignal): Promise<LocalAnswer>
  close(): Promise<void>
}

interface LocalSenderOptions {
  /** A port, `host:port`, or an http or https URL. */
  readonly target: string
  /** Takes any TLS certificate. */
  readonly skipVerify: boolean
  readonly answerMilliseconds?: number
}

/** Opens a sender. Connections are kept open between requests. */
export function createLocalSender({
  target,
  skipVerify,
  answerMilliseconds,
}: LocalSenderOptions): LocalSender {
  const { url, urlOf } = localTarget(target)
  // Read while the command asks the service: a tenth of a second that nobody waits for.
  const opening = openOutbound(skipVerify)
  return {
    url,
    urlOf,
    async send(request, signal) {
      const deliveryId = listenDeliveryId(request.endpointId, request.id)
      const body = Buffer.from(request.body ?? '', request.bodyIsBinary ? 'base64' : 'utf8')
      const at = new Date().toISOString()
      const destination = urlOf(request)
      if (destination === undefined) {
        const sent = { headers: [], body }
        const nothing = { statusCode: null, isRefused: false, isUnsendable: true, sent, received: null }
        const { method } = request
        return { method, url, at, durationMs: 0, deliveryId, error: OUTSIDE_TARGET, ...nothing }
      }
      const outbound = await opening
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
      let result = await once()
      // A kept connection that the server has just closed breaks like this; a new one shows whether it is more.
      if (result.outcome === 'reset') result = await once()
      const facts = {
        method: request.method,
        url: destination,
        at,
        durationMs: result.durationMs,
        deliveryId,
      }
      const sent = { headers: result.sentHeaders, body }
      if (result.outcome === 'response') {
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

async function openOutbound(skipVerify: boolean): Promise<Outbound> {
  const { createOutbound } = await import('@creel/core/platform/outbound')
  return createOutbound({
    // The user names the destination, on the user's own machine: nothing of it is out of bounds.
    allowDestinations: ['0.0.0.0/0', '::/0', 'localhost'],
    ownHosts: () => [],
    trustsAnyCertificate: skipVerify,
  })
}

/** The captured fields in their order and spelling, without those of the connection, and then ours. */
function headersOf(request: RequestDetail, deliveryId: string): (readonly [string, string])[] {
  const named = new Set(
    request.rawHeaders
      .filter(({ name }) => name.toLowerCase() === 'connection')
      .flatMap(({ value }) => value.split(',').map((token) => token.trim().toLowerCase())),
  )
  const kept = request.rawHeaders.filter(({ name }) => {
    const field = name.toLowerCase()
    return (
      !OF_CONNECTION.has(field) && !named.has(field) && !/^creel-(delivery|request|event)-id$/.test(field)
    )
  })
  return [
    ...kept.map((header) => [header.name, headerBytes(header)] as const),
    ['creel-delivery-id', deliveryId],
    ['creel-request-id', String(request.id)],
    // A byte a character, as fields are sent.
    ...(request.eventId === null
      ? []
      : [['creel-event-id', Buffer.from(request.eventId).toString('latin1')] as const]),
  ]
}
