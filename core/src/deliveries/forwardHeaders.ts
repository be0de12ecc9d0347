import { headerValues, type WireHeader } from '../engine/message/index.ts'
import type { SecretBox } from '../platform/secrets/index.ts'

/** A capture that has passed through this many forwards of ours is stored and not forwarded again. */
const HOPS_MAX = 3

/** Identifies the installation that forwards, so that it recognises its own forwards when they are captured again. */
const ORIGIN_HEADER = 'creel-origin'
const ORIGIN = 'origin of forwards'

/**
 * The value of `creel-origin` in forwards of this installation. It cannot be guessed without the installation's key.
 */
export function originMark(secrets: Pick<SecretBox, 'mark'>): string {
  return secrets.mark(ORIGIN)
}

/**
 * Whether a captured request must not be forwarded: it is a forward of this installation, under any host name, or it
 * has passed through too many forwards.
 */
export function isLoop(captured: readonly WireHeader[], secrets: Pick<SecretBox, 'knowsMark'>): boolean {
  const origins = headerValues(captured, ORIGIN_HEADER)
  return hopsOf(captured) >= HOPS_MAX || origins.some((origin) => secrets.knowsMark(ORIGIN, origin))
}

/** Number of forwards of ours that a captured request has passed through: the largest readable `creel-hops`, else 0. */
export function hopsOf(captured: readonly WireHeader[]): number {
  const counts = headerValues(captured, 'creel-hops').filter((value) => /^\s*\d{1,9}\s*$/.test(value))
  return Math.max(0, ...counts.map(Number))
}

/**
 * Fields of a message about a captured request, so that it is known again if it is captured itself.
 *
 * @param hops forwards that the captured request has passed through
 */
export function originHeaders(secrets: Pick<SecretBox, 'mark'>, hops: number): WireHeader[] {
  return [
    ['creel-hops', String(hops + 1)],
    [ORIGIN_HEADER, originMark(secrets)],
  ]
}

/** Facts about an attempt that it sends to its receiver. */
export interface AttemptFacts {
  readonly attemptId: number
  /** The same on every attempt and replay of a request through an action. Receivers deduplicate by it. */
  readonly deliveryUuid: string
  readonly requestId: number
  /** The sender's own id of the event; null without one. */
  readonly eventId: string | null
  readonly attemptNumber: number
  /** Number of forwards that the captured request has passed through. */
  readonly hops: number
  /** Value of {@link originMark}. */
  readonly origin: string
}

/** The field with the sender's own id of the event. */
export const EVENT_ID_HEADER = 'creel-event-id'

export function eventIdHeader(eventId: string | null): WireHeader | null {
  // One byte is one character, as in all header values.
  return eventId === null ? null : [EVENT_ID_HEADER, Buffer.from(eventId).toString('latin1')]
}

/** The `creel-` fields of a forward, without those of its signature. */
export function creelHeaders(facts: AttemptFacts): WireHeader[] {
  const eventId = eventIdHeader(facts.eventId)
  return [
    ['creel-attempt-id', String(facts.attemptId)],
    ['creel-delivery-id', facts.deliveryUuid],
    ['creel-request-id', String(facts.requestId)],
    ...(eventId === null ? [] : [eventId]),
    ['creel-attempt', String(facts.attemptNumber)],
    ['creel-hops', String(facts.hops + 1)],
    [ORIGIN_HEADER, facts.origin],
  ]
}

/** The field that marks every request of a replay of many. */
export const rehearsalHeader = (replayId: string): WireHeader => ['creel-rehearsal', replayId]
