import { isIP } from 'node:net'
import { authenticate, type Caller, DomainError, type Services } from '@creel/core'
import { holdsMore } from '@creel/core/engine/json'
import { createCreel } from 'creel-client'
import type { CallNotes } from '../callLog.ts'
import { boundedRequest } from '../input.ts'
import { markForMcp, noteAddress, presentedBy, traceIdOf } from '../requestIdentity.ts'
import { problemResponse } from '../rest.ts'

/** Messages in one request. Each may cost as much as a call of the API. */
const BATCH_MAX = 20
/** Values in one request. The protocol's own code reads a message several times, and checks each value. */
const VALUES_MAX = 20_000

/** Options of `/mcp`. */
interface McpOptions {
  readonly version: string
  /** Answers calls of the API, in process. */
  readonly serve: (request: Request) => Promise<Response>
  /** Value of `WWW-Authenticate` for calls without a good key. */
  readonly challenge: string
}

/**
 * `/mcp`: tools and events over streamable HTTP, without sessions, for the key of each request. A request counts as a
 * call, and so does every call of the API that its tool makes. `?readOnly=true`, like a key that may only read, leaves
 * out the tools that change or send something.
 *
 * Revisions 2026-07-28 and 2025-11-25 are served at this URL. Each request says which one it speaks. Answers are JSON,
 * except those of methods that stream.
 *
 */
export function mcpHandler(
  services: Services,
  { version, serve, challenge }: McpOptions,
): (request: Request, notes: CallNotes) => Promise<Response> {
  return async (request, notes) => {
    markForMcp(request)
    const presented = presentedBy(request)
    let caller: Caller
    try {
      if (!isFromHere(request, services.urls.baseUrl)) {
        throw new DomainError('forbidden', 'This Host or Origin may not call /mcp.')
      }
      caller = await authenticate(services, presented)
      notes.caller = caller
      // There are no sessions to end, and no stream for messages that the server initiates.
      if (request.method !== 'POST') return notAllowed()
    } catch (error) {
      const refusal = problemResponse(services, error, { traceId: traceIdOf(request) })
      if (refusal.status === 401) refusal.headers.set('WWW-Authenticate', challenge)
      return refusal
    }
    const bounded = await withMessagesRead(request).catch(refusedMessages)
    if (bounded instanceof Response) return bounded
    // The protocol's code is loaded with the first message, not at start.
    const { serveMessages } = await import('./serveMessages.ts')
    const creel = createCreel({
      url: 'http://localhost',
      key: presented.key ?? '',
      retries: 0,
      signal: request.signal,
      fetch: (url, init) => {
        const call = new Request(url, init)
        noteAddress(call, presented.address)
        markForMcp(call)
        return serve(call)
      },
    })
    const readOnly = caller.scope === 'read' || new URL(request.url).searchParams.get('readOnly') === 'true'
    return await serveMessages(bounded, { creel, version, readOnly })
  }
}

function notAllowed(): Response {
  const error = { code: -32000, message: 'Method not allowed: messages are sent with POST.' }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 405, headers: { Allow: 'POST' } })
}

/** The code of JSON-RPC for a message that is no valid request. */
const INVALID_REQUEST = -32600

/** The refusal of messages that are too many, too long or too deep, in the form of the protocol. */
function refusedMessages(error: unknown): Response {
  if (!(error instanceof DomainError)) throw error
  const refusal = { code: INVALID_REQUEST, message: error.detail }
  return Response.json({ jsonrpc: '2.0', error: refusal, id: null }, { status: 400 })
}

/**
 * Reads the request's body, within the limits of REST bodies, and limits its numbers of messages and values.
 *
 * @throws DomainError `request_invalid`
 */
async function withMessagesRead(request: Request): Promise<Request> {
  const { bounded, text } = await boundedRequest(request)
  if (holdsMore(text, { values: VALUES_MAX, names: VALUES_MAX })) {
    throw new DomainError('request_invalid', `A request holds at most ${VALUES_MAX} values.`)
  }
  if (text.trimStart().startsWith('[') && messagesIn(text) > BATCH_MAX) {
    throw new DomainError('request_invalid', `A request holds at most ${BATCH_MAX} messages.`)
  }
  return bounded
}

/** The number of messages. Text that is not JSON counts as 0; the protocol's own code refuses it. */
function messagesIn(text: string): number {
  try {
    const messages: unknown = JSON.parse(text)
    return Array.isArray(messages) ? messages.length : 0
  } catch {
    return 0
  }
}

/** Names of this machine, which no public DNS server answers for. */
const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Whether a request to `/mcp` may come from where it says. It stops DNS rebinding: a page of another site whose name
 * resolves to this service. Browsers send `Origin` with every POST, and the name of that site as `Host`.
 *
 * - `Origin`: absent, the host of {base_url}, or this machine.
 * - `Host`: absent, the host of {base_url}, an address, or a name without a dot, which only a local resolver knows.
 */
function isFromHere(request: Request, baseUrl: string): boolean {
  const own = nameIn(baseUrl)
  const origin = request.headers.get('origin')
  if (origin !== null) {
    const name = nameIn(origin)
    if (name !== own && !LOOPBACK_NAMES.has(name ?? '')) return false
  }
  const host = request.headers.get('host')
  if (host === null) return true
  const name = nameIn(`http://${host}`)
  if (name === undefined) return false
  return name === own || !name.includes('.') || isIP(name) !== 0
}

/** The name or address in a URL, in lower case; undefined if it cannot be read. */
function nameIn(url: string): string | undefined {
  return URL.parse(url)?.hostname.toLowerCase()
}
