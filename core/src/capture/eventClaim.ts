import type { DedupeSettings } from '../endpoints/index.ts'
import type { EvaluatedRequest } from '../engine/message/index.ts'
import { eventIdOf } from '../engine/verification/index.ts'
import type { DedupeMode } from '../engine/words/index.ts'

/** The claim of a capture to be the first of its event. */
export interface EventClaim {
  /** A uuid in lower case without hyphens. Captures of an endpoint with the same key are the same event. */
  readonly key: string
  /** Seconds for which the claim holds from the moment the capture is stored. */
  readonly windowSeconds: number
  /** Treatment of a capture whose event is claimed already. */
  readonly then: DedupeMode
}

/** Octets of the digest that are kept. A collision is expected after 2^64 events. */
const KEY_BYTES = 16

/**
 * Makes the claim of a capture. The key includes the class of its verdict, so that a forged copy never makes the
 * genuine event a duplicate.
 *
 * @param hash keyed digest of the workspace: the claim may outlive an id that is not stored
 * @param isFetched whether a reconciliation fetched it from its sender: then it is genuine without a signature
 * @returns null if the endpoint takes every event, or the capture has no id
 */
export function eventClaimOf(
  dedupe: DedupeSettings | null,
  request: EvaluatedRequest,
  hash: ((text: string) => string) | null,
  isFetched = false,
): EventClaim | null {
  if (dedupe === null || hash === null) return null
  const { by, path, windowSeconds, then } = dedupe
  const id = path === null ? request.eventId : eventIdOf(path, undefined, request)
  if (id === null) return null
  const verdict = request.verification?.verdict
  const isGenuine = isFetched || verdict === undefined || verdict === 'verified'
  const digest = hash(JSON.stringify([isGenuine, by, id]))
  return { key: digest.slice(0, 2 * KEY_BYTES), windowSeconds, then }
}
