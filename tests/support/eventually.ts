const SECONDS_MAX = 30
const POLL_MILLISECONDS = 20

export interface EventuallyOptions {
  /** Fails after so many seconds; 30 by default. */
  readonly seconds?: number
  /** Time between two looks in milliseconds; 20 by default. */
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
  { seconds = SECONDS_MAX, every = POLL_MILLISECONDS }: EventuallyOptions = {},
): Promise<Seen> {
  for (const deadline = performance.now() + seconds * 1000; ; ) {
    const seen = await probe()
    if (seen !== false && seen !== undefined) return seen
    if (performance.now() > deadline) throw new Error(`There was no sign of ${what} within ${seconds} s.`)
    await Bun.sleep(every)
  }
}
