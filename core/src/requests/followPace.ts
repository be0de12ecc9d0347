import { ARRIVALS_MAX, BEHIND_MAX } from './followQueries.ts'

/** Changes within this time are coalesced into one event: 200 captures a second are ten events a second. */
const BEAT_MILLISECONDS = 100
/** The longest interval between the events of a follower, however many there are. */
const BEAT_MILLISECONDS_MAX = 25_600
/** Fraction of one processor core that all followers of one endpoint may use in this process. */
const SHARE = 0.1
/**
 * Estimated processor time, rounded up: of an event, of each request in it, and of a page that a follower behind reads.
 */
const COST_MILLISECONDS = { event: 0.2, request: 0.008, page: 5 } as const

/** Volume that one follower was sent in one interval. */
export interface SentInBeat {
  readonly events: number
  readonly requests: number
  /** Whether it was sent `behind`, after which it reads pages. */
  readonly isBehind: boolean
}

/**
 * The interval over which events are coalesced. A few followers get events ten times a second. The interval grows with
 * their number and with the volume for each, so that all of them together use at most a tenth of a core: captures come
 * first. Intervals double, and are aligned, so that followers still share lookups.
 *
 * @param sent estimate of the volume for each follower
 * @returns milliseconds: 100 times a power of two
 */
export function beatMilliseconds(followerCount: number, { events, requests, isBehind }: SentInBeat): number {
  const cost =
    events * COST_MILLISECONDS.event +
    requests * COST_MILLISECONDS.request +
    (isBehind ? COST_MILLISECONDS.page : 0)
  const beats = (followerCount * cost) / SHARE / BEAT_MILLISECONDS
  const doubled = BEAT_MILLISECONDS * 2 ** Math.ceil(Math.log2(Math.max(1, beats)))
  return Math.min(BEAT_MILLISECONDS_MAX, doubled)
}

/**
 * The most requests that a follower of the newest is sent one by one. Beyond that it is sent only the newest. With ten
 * or more followers it is the number in one event, to leave processor time for captures.
 */
export function sentWholeMax(followerCount: number): number {
  return Math.max(ARRIVALS_MAX, Math.floor(BEHIND_MAX / followerCount))
}
