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
 * The API key as sent. `Authorization: Bearer` is canonical. `X-Api-Key` is the fallback, also next to an Authorization
 * of another scheme, which a proxy may use for itself.
 */
export function presentedKey(request: Request): string | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  return bearer ?? request.headers.get('x-api-key')
}

const addresses = new WeakMap<Request, string>()

/** Records the address of a request, taken from trusted proxies, without the zone of a link-local address. */
export function noteAddress(request: Request, address: string | null): void {
  const [bare] = address?.split('%') ?? []
  if (bare !== undefined) addresses.set(request, bare)
}

/** The address of a request; null when unknown. */
export function addressOf(request: Request): string | null {
  return addresses.get(request) ?? null
}

const forMcp = new WeakSet<Request>()

/** Records that a request is for `/mcp`, or a call of the API that one of its tools makes. */
export function markForMcp(request: Request): void {
  forMcp.add(request)
}

/** The key of a request, its address, and whether it is for `/mcp`. */
export function presentedBy(request: Request): Presented {
  return { key: presentedKey(request), address: addressOf(request), isForMcp: forMcp.has(request) }
}

const ofCallers = new WeakSet<Request>()

/** Records that a request carried a good key or session. */
export function markCaller(request: Request): void {
  ofCallers.add(request)
}

/** @returns whether the request carried a good key or session */
export function isOfCaller(request: Request): boolean {
  return ofCallers.has(request)
}

const failed = new WeakSet<Request>()

/** Records a failed call of a stranger whose answer has another status than 401 and 404. */
export function markFailed(request: Request): void {
  failed.add(request)
}

/** @returns whether the call failed, see {@link markFailed} */
export function hasFailed(request: Request): boolean {
  return failed.has(request)
}
