const SECONDS_MAX = 30
/** The first looks follow each other soon; of what takes long, few are enough. */
const FIRST_MILLISECONDS = 10
const LAST_MILLISECONDS = 100
const GROWTH = 1.2

export interface EventuallyOptions {
  /** Fails after so many seconds; 30 by default. */
  readonly seconds?: number
  /** Time between two looks in milliseconds; by default it grows from 10 to 100. */
  readonly every?: number
}

/**
 * Looks until there is something to see: the one way in which a test waits for what happens elsewhere.
 *
 * @param what is waited for, for the message: `three alerts`
 * @param probe false or undefined while it has not happened; anything else ends the wait. An error of it ends the test.
 * @returns what the probe saw
 * @throws Error naming `what` when it does not come in time
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
