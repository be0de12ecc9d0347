/** `untested` until the first send, then what the sends say. */
export const HEALTHS = ['untested', 'verified', 'failing'] as const

/** One of {@link HEALTHS}. */
export type Health = (typeof HEALTHS)[number]

/** The part of a channel that sends change. */
export interface HealthState {
  readonly health: Health
  readonly lastSuccessAt: Date | null
  readonly lastFailureAt: Date | null
  readonly lastError: string | null
  /** Sends that failed since the last that succeeded; each attempt is a send. */
  readonly consecutiveFailures: number
}

/** What one send came to. */
export interface SendOutcome {
  readonly delivered: boolean
  /** The provider refused in a way that no further try can change. */
  readonly permanent: boolean
  /** Why not; null when it was delivered. Secrets masked. */
  readonly detail: string | null
}

/** This many failed sends in a row make a channel failing. */
const FAILURES_MAX = 3
const LAST_ERROR_MAX = 300

/** A new channel, and one whose credential or a setting was changed. */
export const UNTESTED = { health: 'untested', consecutiveFailures: 0 } as const

/**
 * The health after one send: any success verifies; a rejected test, a permanent rejection, or the
 * third failure in a row makes it failing. A failing channel stays so until a send succeeds.
 *
 * @param isTest a person tested and was refused: that alone says that the channel does not work
 */
export function healthAfter(state: HealthState, send: SendOutcome, isTest: boolean, now: Date): HealthState {
  if (send.delivered) return { ...state, health: 'verified', lastSuccessAt: now, consecutiveFailures: 0 }
  const consecutiveFailures = state.consecutiveFailures + 1
  const failing = isTest || send.permanent || consecutiveFailures >= FAILURES_MAX
  return {
    ...state,
    health: failing ? 'failing' : state.health,
    lastFailureAt: now,
    lastError: send.detail?.slice(0, LAST_ERROR_MAX) ?? null,
    consecutiveFailures,
  }
}
