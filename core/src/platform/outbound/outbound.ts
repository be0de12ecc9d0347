import { Readable } from 'node:stream'
import { Agent } from 'undici/index.js'
import type { InputIssue } from '../../engine/issues.ts'
import type { WireHeader } from '../../engine/message/index.ts'
import { slices } from '../turns/index.ts'
import { checkDestinationUrl, type Destination, readDestination } from './destination.ts'
import { createKeptConnections, createTlsAgents, guardedConnector, type TlsIdentity } from './dial.ts'
import { exchange, type NoResponse, type Response } from './exchange.ts'
import { type Resolve, systemResolve } from './resolve.ts'
import { isAllowed, parseAllowList, type SsrfGuard } from './ssrfGuard.ts'

/** A request to another server, with its limits. */
export interface OutboundRequest {
  readonly method: string
  readonly url: string
  /**
   * Sent in this order and spelling; values are latin1 byte strings. `Host`, `Connection` and `Content-Length` are
   * added.
   */
  readonly headers: readonly WireHeader[]
  readonly body: Uint8Array | null
  /** From the first byte dialled to the last one read. Default 15 000. */
  readonly totalTimeoutMs?: number
  /** A longer body is cut there, and the response is `bodyTruncated`. Default 262 144. */
  readonly maxResponseBytes?: number
  readonly signal?: AbortSignal | undefined
  /** Secures https otherwise than by default; none unless said otherwise. */
  readonly tls?: TlsIdentity | null
}

/** Result of a send. A failure is a result, never an exception. */
export type SendResult = (Response | NoResponse) & {
  /** The fields as on the wire, `Host` and `Content-Length` included. */
  readonly sentHeaders: readonly WireHeader[]
  readonly durationMs: number
}

/** The only outbound HTTP client: forwards, alert channels, tests and replays send through it. */
export interface Outbound {
  /** Sends one request. Follows no redirect, decompresses nothing, never throws. */
  send(request: OutboundRequest): Promise<SendResult>
  /** The fields of a request as they are on the wire when it is sent, `Host` and `Content-Length` included. */
  fieldsOf(request: Pick<OutboundRequest, 'method' | 'url' | 'headers' | 'body'>): readonly WireHeader[]
  /**
   * Checks a URL before it is saved.
   *
   * @param path of the member of the input that holds it; `['url']` by default
   * @returns all reasons to refuse it; empty when it may be saved
   */
  checkDestination(url: string, path?: readonly (string | number)[]): Promise<InputIssue[]>
  /**
   * Whether the operator lists the URL's host, by name or address. Then plain http is accepted where https is required.
   */
  isListed(url: string): boolean
  /** Ends every connection. A send in flight ends as `reset`. */
  close(): Promise<void>
}

/** Settings of the client: permitted destinations, and how a connection is made. */
export interface OutboundOptions extends Pick<SsrfGuard, 'ownHosts' | 'namesSetting' | 'isClosed'> {
  /** `CREEL_ALLOW_DESTINATIONS`: CIDRs, addresses and host names that may be reached although private. */
  readonly allowDestinations: readonly string[]
  /** By default the system's resolver. */
  readonly resolve?: Resolve
  /** DNS, TCP and TLS together. Default 5 000. */
  readonly connectTimeoutMs?: number
  /** PEM certificates to trust instead of the built-in ones. */
  readonly certificateAuthorities?: string
  /** Accepts any certificate. Only for destinations on the user's own machine; default false. */
  readonly trustsAnyCertificate?: boolean
}

/** The longest response header section that is read, in bytes. */
const MAX_HEADER_BYTES = 65_536
/** A longer body is written in pieces, and other work runs in between. */
const PIECE_BYTES = 256 * 1024
/** The most parsed URLs that are kept. */
const DESTINATIONS_MAX = 256

/**
 * Builds the guarded HTTP client.
 *
 * @throws TypeError when an entry of `allowDestinations` is not a CIDR, an address or a host name
 */
export function createOutbound(options: OutboundOptions): Outbound {
  const { connectTimeoutMs = 5000, resolve = systemResolve, certificateAuthorities } = options
  const trustsAnyCertificate = options.trustsAnyCertificate ?? false
  const guard: SsrfGuard = { ...options, allow: parseAllowList(options.allowDestinations), resolve }
  const kept = createKeptConnections()
  const newAgent = (tls: TlsIdentity | null) =>
    new Agent({
      factory: kept.poolOf(
        guardedConnector({ guard, connectTimeoutMs, certificateAuthorities, trustsAnyCertificate, tls }),
      ),
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The deadline of `exchange` covers the whole send, and is exact.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  const agent = newAgent(null)
  const tlsAgents = createTlsAgents(newAgent)

  /** Recently used destinations, parsed. */
  const destinations = new Map<string, Destination>()
  const destinationOf = (url: string): Destination | undefined => {
    const known = destinations.get(url)
    if (known !== undefined) return known
    const destination = readDestination(url)
    if (destination === undefined) return undefined
    if (destinations.size >= DESTINATIONS_MAX) destinations.clear()
    destinations.set(url, destination)
    return destination
  }

  return {
    async send({
      method,
      url,
      headers,
      body,
      totalTimeoutMs = 15_000,
      maxResponseBytes = 262_144,
      signal,
      tls = null,
    }) {
      const startedAt = performance.now()
      const durationMs = () => Math.round(performance.now() - startedAt)
      const destination = destinationOf(url)
      // The answer to a CONNECT opens a tunnel.
      if (destination === undefined || method === 'CONNECT')
        return {
          outcome: 'unsendable',
          detail: method === 'CONNECT' ? 'a CONNECT request cannot be forwarded' : 'not an http URL',
          sentHeaders: headers,
          durationMs: durationMs(),
        }

      const bytes = body ?? new Uint8Array()
      const isLong = bytes.length > PIECE_BYTES
      const result = await exchange(
        tls === null ? agent : tlsAgents.agentOf(tls),
        {
          origin: destination.origin,
          path: destination.target,
          method,
          // In undici's format: name, value, name, value.
          headers: ['host', destination.hostHeader, ...headers.flat(), ...(isLong ? lengthOf(bytes) : [])],
          body: isLong ? Readable.from(inPieces(bytes)) : bytes,
          reset: closesAfter(method),
        },
        { totalTimeoutMs, maxResponseBytes, signal },
      )
      const sentHeaders = wireFields(method, destination.hostHeader, headers, bytes.length)
      return { ...result, sentHeaders, durationMs: durationMs() }
    },
    fieldsOf({ method, url, headers, body }) {
      const destination = destinationOf(url)
      return destination === undefined
        ? headers
        : wireFields(method, destination.hostHeader, headers, body?.length ?? 0)
    },
    checkDestination: (url, path = ['url']) => checkDestinationUrl(guard, url, path),
    isListed(url) {
      const host = readDestination(url)?.host
      return host !== undefined && isAllowed(guard.allow, host, host === 'localhost' ? '127.0.0.1' : host)
    },
    async close() {
      await Promise.all([agent.destroy(), tlsAgents.close()])
    },
  }
}

const lengthOf = (bytes: Uint8Array): string[] => ['content-length', String(bytes.length)]

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (slices.areDue) await slices.next()
    yield bytes.subarray(at, at + PIECE_BYTES)
  }
}

/** Methods with a `Content-Length` for an empty body, too (RFC 9110 §8.6), as undici writes it. */
const EXPECTS_BODY = new Set(['POST', 'PUT', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH'])

/** The header section that undici writes for these fields. A test compares it with the bytes on a socket. */
function wireFields(
  method: string,
  host: string,
  headers: readonly WireHeader[],
  bodyBytes: number,
): readonly WireHeader[] {
  const length: WireHeader[] =
    bodyBytes > 0 || EXPECTS_BODY.has(method) ? [['content-length', String(bodyBytes)]] : []
  return [['host', host], ['connection', closesAfter(method) ? 'close' : 'keep-alive'], ...headers, ...length]
}

/** Whether a connection is closed after use: a body of a GET or DELETE, or of an answer to HEAD, makes it unusable. */
function closesAfter(method: string): boolean {
  return !EXPECTS_BODY.has(method)
}
