import { ARRIVALS_MAX, BEHIND_MAX } from './followQueries.ts'

/** What happens within so long is one event: 200 captures a second are ten events a second. */
const BEAT_MILLISECONDS = 100
/** Nobody waits longer than this for what arrived, however many follow. */
const BEAT_MILLISECONDS_MAX = 25_600
/** Of the time of one processor core that all followers of one endpoint may take, in this process. */
const SHARE = 0.1
/** Processor time, generously: an event, each request in it, and the page that a follower reads when it is told to. */
const COST_MILLISECONDS = { event: 0.2, request: 0.008, page: 5 } as const

/** What one follower was sent since it last rested. */
export interface SentInBeat {
  readonly events: number
  readonly requests: number
  /** Whether it was told to read pages. */
  readonly isBehind: boolean
}

/**
 * How long the events of one beat are gathered. A few followers are told ten times a second. The more there are, and the more each
 * is sent, the longer it is, so that all of them together take a tenth of a core at most: captures come first. Beats double, and
 * start together, so that followers still share what they look for.
 *
 * @param sent to each of the followers, about
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
 * So many requests are sent to a page whole; beyond that it is sent the newest. Where ten or more follow it is one event: all of them
 * would take at once what captures need.
 */
export function sentWholeMax(followerCount: number): number {
  return Math.max(ARRIVALS_MAX, Math.floor(BEHIND_MAX / followerCount))
}
