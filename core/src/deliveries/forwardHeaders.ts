import { headerValues, type WireHeader } from '../engine/message/index.ts'
import { SIGNATURE_HEADER } from '../engine/signing/index.ts'

/** A capture that arrives after this many forwards of ours is stored and not forwarded again (CONTRACT R37). */
export const HOPS_MAX = 3

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
    ['creel-attempt-id', String(facts.attemptId)],
    ['creel-delivery-id', facts.deliveryUuid],
    ['creel-request-id', String(facts.requestId)],
    ['creel-attempt', String(facts.attemptNumber)],
    ['creel-hops', String(facts.hops + 1)],
    ...(facts.signature === null ? [] : [[SIGNATURE_HEADER, facts.signature] as const]),
  ]
}
