import { headerValues, type WireHeader } from '../engine/message/capturedRequest.ts'
import { SIGNATURE_HEADER } from '../engine/signing/index.ts'

/** A capture that arrives after this many forwards of ours is stored and not forwarded again (CONTRACT R37). */
export const HOPS_MAX = 3

/** Fields that belong to one connection, or that the next one sets itself (CONTRACT R36). */
const DROPPED = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
  'x-real-ip',
])

const DROPPED_PREFIXES = ['creel-', 'proxy-', 'x-forwarded-']

/**
 * The captured fields that a forward passes on, in wire order, spelling and bytes: without those of the
 * connection (RFC 9110 §7.6.1) and those that `Connection` names, those of proxies, and our own.
 *
 * @param written names, in lower case, that a rule wrote: those are meant for the receiver, whatever they are
 */
export function forwardableHeaders(
  captured: readonly WireHeader[],
  written: ReadonlySet<string> = new Set(),
): WireHeader[] {
  const named = namedByConnection(captured)
  return captured.filter(([field]) => {
    const name = field.toLowerCase()
    return written.has(name) || !(isDropped(name) || named.has(name))
  })
}

function isDropped(name: string): boolean {
  return DROPPED.has(name) || DROPPED_PREFIXES.some((prefix) => name.startsWith(prefix))
}

/** The fields, in lower case, that `Connection` says belong to it. */
function namedByConnection(captured: readonly WireHeader[]): ReadonlySet<string> {
  const values = headerValues(captured, 'connection')
  return new Set(values.flatMap((value) => value.split(',').map((token) => token.trim().toLowerCase())))
}

/** How many forwards of ours a captured request has behind it: the largest readable `creel-hops`. */
export function hopsOf(captured: readonly WireHeader[]): number {
  const counts = headerValues(captured, 'creel-hops').filter((value) => /^\s*\d{1,9}\s*$/.test(value))
  return Math.max(0, ...counts.map(Number))
}

/** What a try tells its receiver about itself (CONTRACT R35). */
export interface TryFacts {
  readonly attemptId: number
  /** The same on every try and replay of a request through an action: what receivers dedupe by. */
  readonly deliveryUuid: string
  readonly requestId: number
  readonly attemptNumber: number
  /** Of the captured request. */
  readonly hops: number
  /** The value of `creel-signature`; null without a signing secret. */
  readonly signature: string | null
}

/** The fields that we add to a forward. */
export function creelHeaders(facts: TryFacts): WireHeader[] {
  return [
    ['User-Agent', 'creel/1'],
    ['creel-attempt-id', String(facts.attemptId)],
    ['creel-delivery-id', facts.deliveryUuid],
    ['creel-request-id', String(facts.requestId)],
    ['creel-attempt', String(facts.attemptNumber)],
    ['creel-hops', String(facts.hops + 1)],
    ...(facts.signature === null ? [] : [[SIGNATURE_HEADER, facts.signature] as const]),
  ]
}
