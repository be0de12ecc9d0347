import { headerValues, type WireHeader } from '../engine/message/index.ts'
import type { SecretBox } from '../platform/secrets/index.ts'
import type { Attempt } from './attempt.ts'

/** A capture that has passed through this many forwards of ours is stored and not forwarded again. */
const HOPS_MAX = 3

/**
 * Identifies the installation that forwards, so that it recognises its own forwards when they are captured again. The
 * value cannot be guessed without the installation's key.
 */
const ORIGIN_HEADER = 'creel-origin'
const ORIGIN = 'origin of forwards'

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
    [ORIGIN_HEADER, secrets.mark(ORIGIN)],
  ]
}

/** The field with the sender's own id of the event. */
export const EVENT_ID_HEADER = 'creel-event-id'

export function eventIdHeader(eventId: string | null): WireHeader | null {
  // One byte is one character, as in all header values.
  return eventId === null ? null : [EVENT_ID_HEADER, Buffer.from(eventId).toString('latin1')]
}

/**
 * The `creel-` fields of a forward, without those of its signature.
 *
 * @param deliveryId the same on every attempt and replay of a request through an action: receivers deduplicate by it
 */
export function creelHeaders(
  secrets: Pick<SecretBox, 'mark'>,
  attempt: Pick<Attempt, 'id' | 'requestId' | 'attemptNumber'> & {
    readonly request: Pick<Attempt['request'], 'eventId' | 'headers'>
  },
  deliveryId: string,
): WireHeader[] {
  const { id, requestId, attemptNumber, request } = attempt
  const eventId = eventIdHeader(request.eventId)
  return [
    ['creel-attempt-id', String(id)],
    ['creel-delivery-id', deliveryId],
    ['creel-request-id', String(requestId)],
    ...(eventId === null ? [] : [eventId]),
    ['creel-attempt', String(attemptNumber)],
    ...originHeaders(secrets, hopsOf(request.headers)),
  ]
}

/** The field that marks every request of a replay of many. */
export const rehearsalHeader = (replayId: string): WireHeader => ['creel-rehearsal', replayId]
