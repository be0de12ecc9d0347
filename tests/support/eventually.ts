/** Long, because machines that run tests are busy: only a failure takes this time. */
const SECONDS_MAX = 240
/** The interval of polling grows: short at first, then longer. */
const FIRST_MILLISECONDS = 10
const LAST_MILLISECONDS = 100
const GROWTH = 1.2

export interface EventuallyOptions {
  /** Timeout in seconds; 240 by default. */
  readonly seconds?: number
  /** Interval in milliseconds; by default it grows from 10 to 100. */
  readonly every?: number
}

/**
 * Polls until a condition is met. Tests wait for other processes only in this way.
 *
 * @param what the test waits for, for the message: `three alerts`
 * @param probe returns false or undefined to continue; anything else ends the wait. Its error ends the test.
 * @returns the result of the probe
 * @throws Error naming `what` after the timeout
 */
export async function eventually<Seen>(
  what: string,
  probe: () => Promise<Seen | false | undefined> | Seen | false | undefined,
  { seconds = SECONDS_MAX, every }: EventuallyOptions = {},
): Promise<Seen> {
  const deadline = performance.now() + seconds * 1000
  for (let pause = FIRST_MILLISECONDS; ; pause = Math.min(LAST_MILLISECONDS, pause * GROWTH)) {
    const seen = await probe()
    if (seen !== false && seen !== undefined) return seen
    if (performance.now() > deadline) throw new Error(`There was no sign of ${what} within ${seconds} s.`)
    await Bun.sleep(every ?? pause)
  }
}
