import { randomBytes } from 'node:crypto'
import type { Presented } from '@creel/core'

/** Facts of a request that the layers of the gateway tell each other. A `Request` has no place for them. */
interface Facts {
  traceId?: string
  address?: string
  isForMcp?: true
  isOfCaller?: true
  hasFailed?: true
}

const facts = new WeakMap<Request, Facts>()

function factsOf(request: Request): Facts {
  return facts.getOrInsertComputed(request, () => ({}))
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/

/** The W3C trace id of the request: the sender's `traceparent` when it is valid, else a new one. Stable per request. */
export function traceIdOf(request: Request): string {
  const of = factsOf(request)
  of.traceId ??= sentTraceId(request) ?? randomBytes(16).toString('hex')
  return of.traceId
}

function sentTraceId(request: Request): string | undefined {
  const sent = TRACEPARENT.exec(request.headers.get('traceparent') ?? '')?.[1]
  return sent === undefined || /^0+$/.test(sent) ? undefined : sent
}

/**
 * The API key as sent. `Authorization: Bearer` is canonical. `X-Api-Key` is the fallback, also next to an Authorization
 * of another scheme, which a proxy may use for itself.
 */
export function presentedKey(request: Request): string | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  return bearer ?? request.headers.get('x-api-key')
}

/** Records the address of a request, taken from trusted proxies, without the zone of a link-local address. */
export function noteAddress(request: Request, address: string | null): void {
  const [bare] = address?.split('%') ?? []
  if (bare !== undefined) factsOf(request).address = bare
}

export function addressOf(request: Request): string | null {
  return factsOf(request).address ?? null
}

/** Records that a request is for `/mcp`, or a call of the API that one of its tools makes. */
export function markForMcp(request: Request): void {
  factsOf(request).isForMcp = true
}

/** The key of a request, its address, and whether it is for `/mcp`. */
export function presentedBy(request: Request): Presented {
  const { address = null, isForMcp = false } = factsOf(request)
  return { key: presentedKey(request), address, isForMcp }
}

export function markCaller(request: Request): void {
  factsOf(request).isOfCaller = true
}

/** @returns whether the request carried a good key or session */
export function isOfCaller(request: Request): boolean {
  return factsOf(request).isOfCaller === true
}

/** Records a failed call of a stranger whose answer has another status than 401 and 404. */
export function markFailed(request: Request): void {
  factsOf(request).hasFailed = true
}

/** @returns whether the call failed, see {@link markFailed} */
export function hasFailed(request: Request): boolean {
  return factsOf(request).hasFailed === true
}
