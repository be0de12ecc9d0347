/** Requests that one replay sends, at most. */
export const REQUESTS_MAX = 10_000

/** Requests a second of a replay without a pace. */
export const PER_SECOND_DEFAULT = 50

/** Longest replay by its pace, in milliseconds. */
export const RUN_MS_MAX = 24 * 3_600_000

/**
 * Replays of a workspace that the service sends at once; the others wait. Replays of one request, and those for
 * listeners, do not count.
 */
export const RUNNING_MAX = 2

/** Replays of a workspace that run, wait or are paused. As many again may have one request. */
export const UNFINISHED_MAX = 10

/** Ended replays that are kept for each workspace, and as many again of one request. */
export const ENDED_KEPT = 20

/** Bytes of the body of an answer that are kept. */
export const ANSWER_BYTES_MAX = 256 * 1024

/** Bytes of the bodies of all answers of a replay that are kept. Later answers are compared, and their bodies dropped. */
export const ANSWERS_BYTES_MAX = 16 * 1024 * 1024

/** Time beyond the limit of a send after which it counts as lost, in milliseconds. It is recorded within this time. */
export const LEASE_GRACE_MS = 15_000

/** Times that a send may be begun and lost with its process. After these it is given up, as the possible cause. */
export const LOST_MAX = 3

/** Calls of a key that wait for requests of replays. */
export const WAITING_TAKES_MAX = 32

/** Time limit of a send by a listener if the replay names none, in seconds. */
export const LISTENER_TIMEOUT_SECONDS = 60

/** Time beyond the limit of a send after which a request that was taken is given again, in milliseconds. */
export const ANSWER_GRACE_MS = 30_000

/** A replay for listeners is paused when none has taken or answered for this time, in milliseconds. */
export const ABANDONED_MS = 15 * 60_000

/** Requests that `dryRun` shows as they would go out. */
export const SHOWN_MAX = 10

/** Differences of one answer that are kept. */
export const DIFFERENCES_MAX = 50
