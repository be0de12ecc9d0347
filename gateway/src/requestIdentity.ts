import { randomBytes } from 'node:crypto'
import type { Presented } from '@creel/core'

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/
const traceIds = new WeakMap<Request, string>()

/** The W3C trace id of the request: the sender's `traceparent` when it is valid, else a new one. Stable per request. */
export function traceIdOf(request: Request): string {
  const known = traceIds.get(request)
  if (known !== undefined) return known
  const sent = TRACEPARENT.exec(request.headers.get('traceparent') ?? '')?.[1]
  const traceId = sent !== undefined && !/^0+$/.test(sent) ? sent : randomBytes(16).toString('hex')
  traceIds.set(request, traceId)
  return traceId
}

/**
 * The API key as sent: `Authorization: Bearer` is canonical, `X-Api-Key` the fallback, also
 * beside an Authorization of another scheme, which a proxy may want for itself.
 */
export function presentedKey(request: Request): string | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  return bearer ?? request.headers.get('x-api-key')
}

const addresses = new WeakMap<Request, string>()

/** Notes where a request came from, as far as we believe proxies; without the zone of a link-local address. */
export function noteAddress(request: Request, address: string | null): void {
  const [bare] = address?.split('%') ?? []
  if (bare !== undefined) addresses.set(request, bare)
}

/** Where a request came from; null where nobody knows. */
export function addressOf(request: Request): string | null {
  return addresses.get(request) ?? null
}

/** The key that a request shows, and where it came from. */
export function presentedBy(request: Request): Presented {
  return { key: presentedKey(request), address: addressOf(request) }
}

const ofCallers = new WeakSet<Request>()

/** Notes that a request came from somebody whose key or session is good. */
export function markCaller(request: Request): void {
  ofCallers.add(request)
}

/** @returns whether its sender showed a good key or session; else it is a stranger's */
export function isOfCaller(request: Request): boolean {
  return ofCallers.has(request)
}
