import type { RetrySchedule } from '../dispatch/index.ts'

/** Time for which a subscription lasts without a refresh, in milliseconds. */
export const TTL_MS = { default: 3_600_000, min: 300_000, max: 86_400_000 } as const

/** Longest attempt, in milliseconds. */
export const SEND_MS = 10_000
/** Answer of a callback that is read, in bytes. */
export const ANSWER_BYTES_MAX = 65_536
/** Time after which an attempt without a result counts as interrupted, in milliseconds. */
export const LEASE_MS = 15_000
/** Attempts of an event: four within 15 minutes, unless the callback asks for more time. */
export const RETRIES: RetrySchedule = { delaysSeconds: [30, 120, 600], jitter: 0.2 }
/** Attempts of one subscription at once. While it fails, one at a time. */
export const SENDS_AT_ONCE = 4
/** Events of one subscription that wait to be sent. Further ones stay where they are, as requests. */
export const WAITING_MAX = 100
/** Ended events of a subscription that are kept, without their text. */
export const ENDED_KEPT = 100
/** Time for which the previous secret signs, too, in milliseconds. */
export const PREVIOUS_SECRET_MS = 86_400_000

/** Callbacks that a key may have checked in a minute. */
export const CHECKS_A_MINUTE = 10
/** Checks of one workspace that may fail at one host within {@link FAILED_CHECKS_MS}. */
export const FAILED_CHECKS_MAX = 30
/**
 * Failed checks at one host within {@link FAILED_CHECKS_MS}, over all workspaces, after which further checks there are
 * slowed down, and refused for workspaces that had one fail there.
 */
export const FAILED_CHECKS_OF_ALL = 120
/** Delay of a check at a host where many failed, in milliseconds. */
export const SLOWED_MS = 2_000
/** Time for which a failed check counts, in milliseconds. */
export const FAILED_CHECKS_MS = 3_600_000

/** Seconds within which the end of a key, or of an endpoint, ends its subscriptions: 5 with the longest read. */
export const CHECK_SECONDS = 2
