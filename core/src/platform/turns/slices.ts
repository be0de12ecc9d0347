import { Turns } from './turns.ts'

/** The longest time that such work holds the event loop at once, in milliseconds, plus one step. */
const SLICE_MS = 5

const turns = new Turns({ atOnce: 1 })
let sliceEndsAt = 0

/**
 * Long work of this process, in slices of 5 ms. The event loop runs between any two slices, so that other work waits
 * for one slice at most, however much there is. Pieces of work take their slices in the order of arrival.
 */
export const slices = {
  /** Whether the slice is over. Then the work awaits {@link next} before its next step. A step must be short. */
  get areDue(): boolean {
    return performance.now() >= sliceEndsAt
  },

  async next(): Promise<void> {
    await turns.run('', () => new Promise((resolve) => setImmediate(resolve)))
    sliceEndsAt = performance.now() + SLICE_MS
  },
} as const

/**
 * Runs work that yields between short steps, without a pause.
 *
 * @throws what the work throws
 * @returns what the work returns
 */
export function atOnce<Result>(work: Iterator<unknown, Result, undefined>): Result {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/**
 * Runs work that yields between short steps, in slices.
 *
 * @throws what the work throws
 * @returns what the work returns
 */
export async function inSlices<Result>(
  work: Iterator<unknown, Result, undefined>,
  signal?: AbortSignal,
): Promise<Result> {
  for (;;) {
    if (slices.areDue) await slices.next()
    signal?.throwIfAborted()
    const step = work.next()
    if (step.done === true) return step.value
  }
}
