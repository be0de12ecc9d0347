import type { Reading } from './kinds/index.ts'
import { cut } from './kinds/text.ts'

/** Health states: `untested` until the first send, then by the results of sends. */
export const HEALTHS = ['untested', 'verified', 'failing'] as const

export type Health = (typeof HEALTHS)[number]

export interface HealthState {
  readonly health: Health
  readonly lastSuccessAt: Date | null
  readonly lastFailureAt: Date | null
  readonly lastError: string | null
  /** Failed sends since the last success; each attempt counts. */
  readonly consecutiveFailures: number
}

/** This many failed sends in a row make a channel failing. */
const FAILURES_MAX = 3
const LAST_ERROR_MAX = 300

/** State of a new channel, and of one with a changed credential or setting. */
export const UNTESTED = { health: 'untested', consecutiveFailures: 0 } as const

/**
 * The health after one send. A success makes it verified. A rejected test, a permanent rejection, or the third failure
 * in a row makes it failing, until a send succeeds.
 *
 * @param isTest the send was a user's test; its refusal alone makes the channel failing
 */
export function healthAfter(state: HealthState, send: Reading, isTest: boolean, now: Date): HealthState {
  if (send.delivered) return { ...state, health: 'verified', lastSuccessAt: now, consecutiveFailures: 0 }
  const consecutiveFailures = state.consecutiveFailures + 1
  const failing = isTest || send.permanent || consecutiveFailures >= FAILURES_MAX
  return {
    ...state,
    health: failing ? 'failing' : state.health,
    lastFailureAt: now,
    lastError: send.detail === null ? null : cut(send.detail, LAST_ERROR_MAX),
    consecutiveFailures,
  }
}
