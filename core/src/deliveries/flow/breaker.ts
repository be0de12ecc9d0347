import type { DeliveryPolicy } from '../policy.ts'
import type { BreakerState } from './decide.ts'

/** State of a breaker. Times are dates of the process's clock. */
export interface Breaker {
  readonly state: BreakerState
  /** Failures within the window, oldest first. */
  readonly failures: readonly Date[]
  readonly openedAt: Date | null
  readonly nextProbeAt: Date | null
  readonly closedAt: Date | null
}

/** How an attempt ended, for a breaker. */
export interface Outcome {
  readonly hasSucceeded: boolean
  readonly at: Date
}

/**
 * Applies the ends of attempts to a breaker, in their order. It opens when the policy's number of failures falls into
 * one window, and closes at the first success after that.
 */
export function breakerAfter(
  before: Breaker,
  outcomes: readonly Outcome[],
  policy: NonNullable<DeliveryPolicy['breaker']>,
): Breaker {
  return outcomes.reduce((breaker, outcome) => after(breaker, outcome, policy), before)
}

function after(
  breaker: Breaker,
  { hasSucceeded, at }: Outcome,
  { failures: failuresMax, windowSeconds, probeEverySeconds }: NonNullable<DeliveryPolicy['breaker']>,
): Breaker {
  const isClosed = breaker.state === 'closed'
  if (hasSucceeded) {
    return isClosed
      ? breaker
      : { state: 'closed', failures: [], openedAt: null, nextProbeAt: null, closedAt: at }
  }
  // The failure is of a probe, or of an attempt that began before the breaker opened. Neither changes the time of the
  // next probe.
  if (!isClosed) return { ...breaker, state: 'open' }
  const since = at.getTime() - windowSeconds * 1000
  const failures = [...breaker.failures.filter((time) => time.getTime() > since), at]
  if (failures.length < failuresMax) return { ...breaker, failures }
  const nextProbeAt = new Date(at.getTime() + probeEverySeconds * 1000)
  return { ...breaker, state: 'open', failures: [], openedAt: at, nextProbeAt }
}
