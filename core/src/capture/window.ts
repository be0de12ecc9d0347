import type { Clock } from '../api/services.ts'

/** The capture rate's window: fixed, it starts with the first capture in it. */
export const WINDOW_SECONDS = 60

/**
 * How far a process's clock is set ahead of the machine's: 0, but in tests, which turn theirs. Windows and expiry go by the
 * database's clock and this, so that gateways whose clocks differ agree.
 */
export function aheadMs(clock: Clock): number {
  return clock.now().getTime() - Date.now()
}
