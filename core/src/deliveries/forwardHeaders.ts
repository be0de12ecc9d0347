import { headerValues, type WireHeader } from '../engine/message/index.ts'
import type { SecretBox } from '../platform/secrets/index.ts'

/** A capture that arrives after this many forwards of ours is stored and not forwarded again. */
const HOPS_MAX = 3

/** Names the installation that forwards, so that it knows its own forwards when they come back as captures. */
const ORIGIN_HEADER = 'creel-origin'
const ORIGIN = 'origin of forwards'

/** The value of `creel-origin` in forwards of this installation. Nobody else can guess it. */
export function originMark(secrets: Pick<SecretBox, 'mark'>): string {
  return secrets.mark(ORIGIN)
}

/**
 * Whether a captured request must not be forwarded: it is a forward of this installation, under whatever name it came
 * back, or it has been through too many.
 */
export function isLoop(captured: readonly WireHeader[], secrets: Pick<SecretBox, 'knowsMark'>): boolean {
  const origins = headerValues(captured, ORIGIN_HEADER)
  return hopsOf(captured) >= HOPS_MAX || origins.some((origin) => secrets.knowsMark(ORIGIN, origin))
}

/** How many forwards of ours a captured request has behind it: the largest readable `creel-hops`. */
export function hopsOf(captured: readonly WireHeader[]): number {
  const counts = headerValues(captured, 'creel-hops').filter((value) => /^\s*\d{1,9}\s*$/.test(value))
  return Math.max(0, ...counts.map(Number))
}

/** What an attempt tells its receiver about itself. */
export interface AttemptFacts {
  readonly attemptId: number
  /** The same on every attempt and replay of a request through an action: what receivers dedupe by. */
  readonly deliveryUuid: string
  readonly requestId: number
  /** The sender's own id of the event; null without one. */
  readonly eventId: string | null
  readonly attemptNumber: number
  /** Of the captured request. */
  readonly hops: number
  /** What {@link originMark} says. */
  readonly origin: string
}

/** The fields by which a forward tells about itself; its signature is none of them. */
export function creelHeaders(facts: AttemptFacts): WireHeader[] {
  return [
    ['creel-attempt-id', String(facts.attemptId)],
    ['creel-delivery-id', facts.deliveryUuid],
    ['creel-request-id', String(facts.requestId)],
    // A byte a character, as fields are sent.
    ...(facts.eventId === null
      ? []
      : [['creel-event-id', Buffer.from(facts.eventId).toString('latin1')] as const]),
    ['creel-attempt', String(facts.attemptNumber)],
    ['creel-hops', String(facts.hops + 1)],
    [ORIGIN_HEADER, facts.origin],
  ]
}
