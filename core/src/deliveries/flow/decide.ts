import { LATE_MS_MAX, LEAD_MS_MAX, type Room } from '../../dispatch/index.ts'
import type { DeliveryPolicy } from '../policy.ts'

/**
 * States of a breaker: closed lets attempts start, open lets none start, probing has one attempt that tests the
 * receiver.
 */
export const BREAKER_STATES = ['closed', 'open', 'probing'] as const

export type BreakerState = (typeof BREAKER_STATES)[number]

/** Starts are scheduled this far ahead, in milliseconds. A pause stops all others. */
export const AHEAD_MS = 100
/** Variation of the network delay to the receiver, in milliseconds, that the spacing of a rate also includes. */
const JITTER_MS = 15
/** Seconds of slow start after a breaker closes. The pace begins at the number below and doubles each second. */
const RAMP_SECONDS = 8
const RAMP_STARTS_PER_SECOND = 5

/**
 * The state of an action's flow, as far as it decides whether attempts may start. Times are milliseconds of one clock.
 */
export interface Flow {
  readonly policy: Pick<DeliveryPolicy, 'rate' | 'concurrency' | 'breaker'>
  /** When to look again because the workspace is sealed: it is about to be in another cell. Null if it is not. */
  readonly sealedUntil: number | null
  readonly isPaused: boolean
  /** When the deliveries of a switched-off action end unsent; null while the action is on. */
  readonly endsAt: number | null
  readonly drainPerSecond: number | null
  /** Earliest next start under the pace. */
  readonly nextStartAt: number | null
  /** Earliest next start that a receiver asked for. */
  readonly notBefore: number | null
  readonly breaker: BreakerState
  readonly nextProbeAt: number | null
  /** When the breaker closed. */
  readonly closedAt: number | null
  /** Attempts in flight, over all processes. */
  readonly sending: number
}

/** Whether attempts may start: at most `limit`, the first at `firstAt` and the others `spacingMs` apart. */
export type Decision =
  | { readonly kind: 'wait'; readonly until: number | null }
  | {
      readonly kind: 'go'
      readonly limit: number
      readonly firstAt: number
      readonly spacingMs: number
      /** Whether it is the one attempt that tests a receiver behind an open breaker. */
      readonly isProbe: boolean
    }

/**
 * Decides how many attempts of an action may start now, and when.
 *
 * @returns `wait` with a null `until` if only an event changes the decision: a resume, the end of an attempt, a free
 *   slot
 */
export function decide(flow: Flow, now: number, room: Room): Decision {
  const { sealedUntil, endsAt, notBefore, policy, sending } = flow
  if (sealedUntil !== null && now < sealedUntil) return waitUntil(sealedUntil)
  if (endsAt !== null) {
    // The deliveries end unsent, so no bound applies.
    return now < endsAt ? waitUntil(endsAt) : go({ limit: room.slots, firstAt: now })
  }
  if (flow.isPaused) return waitUntil(null)
  const isProbe = policy.breaker !== undefined && policy.breaker !== null && flow.breaker !== 'closed'
  const heldUntil = Math.max(notBefore ?? 0, isProbe ? (flow.nextProbeAt ?? 0) : 0)
  if (now < heldUntil) return waitUntil(heldUntil)
  const free = Math.min(room.slots, (policy.concurrency ?? Number.POSITIVE_INFINITY) - sending)
  if (free <= 0) return waitUntil(null)
  const spacingMs = spacingOf(flow, now)
  if (spacingMs === 0) return go({ limit: isProbe ? 1 : free, firstAt: now, isProbe })
  // A start that was reserved under a slower pace is moved forward.
  const latest = now + LEAD_MS_MAX + AHEAD_MS + spacingMs
  const firstAt = Math.max(Math.min(flow.nextStartAt ?? 0, latest), now + room.leadMs)
  const horizon = now + room.leadMs + AHEAD_MS
  if (firstAt > horizon) return waitUntil(firstAt - room.leadMs)
  const starts = Math.floor((horizon - firstAt) / spacingMs) + 1
  return go({ limit: isProbe ? 1 : Math.min(free, starts), firstAt, spacingMs, isProbe })
}

/**
 * Milliseconds between two starts; 0 if attempts may start together. Even spacing keeps every window within the rate,
 * wherever the window begins.
 */
export function spacingOf(flow: Pick<Flow, 'policy' | 'drainPerSecond' | 'closedAt'>, now: number): number {
  const { rate, breaker } = flow.policy
  const rateMs = rate ? (rate.perSeconds * 1000 + LATE_MS_MAX + JITTER_MS) / rate.count : 0
  const drainMs = flow.drainPerSecond === null ? 0 : 1000 / flow.drainPerSecond
  const seconds = breaker && flow.closedAt !== null ? (now - flow.closedAt) / 1000 : RAMP_SECONDS
  // The clock of the process that closed it may be ahead; far ahead, another clock was set back since.
  const rampMs =
    Math.abs(seconds) < RAMP_SECONDS
      ? 1000 / (RAMP_STARTS_PER_SECOND * 2 ** Math.max(0, Math.floor(seconds)))
      : 0
  return Math.max(rateMs, drainMs, rampMs)
}

function waitUntil(until: number | null): Decision {
  return { kind: 'wait', until }
}

function go(given: { limit: number; firstAt: number; spacingMs?: number; isProbe?: boolean }): Decision {
  return { kind: 'go', spacingMs: 0, isProbe: false, ...given }
}
