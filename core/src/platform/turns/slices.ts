import { Turns } from './turns.ts'

/** Work of this kind holds the event loop for at most so long at a time, in milliseconds, and a step besides. */
const SLICE_MS = 5

const turns = new Turns({ atOnce: 1 })
let sliceEndsAt = 0

/**
 * Long work of this process, cut into slices of 5 ms. Between two slices of any such work the event loop takes a turn, so that
 * others wait for one slice at most, however much work there is. The work takes its slices in the order of arrival.
 */
export const slices = {
  /** Whether the slice is over: then the work awaits {@link next} before its next step. A step must be short. */
  get areDue(): boolean {
    return performance.now() >= sliceEndsAt
  },

  /** Waits for a slice. */
  async next(): Promise<void> {
    await turns.run('', () => new Promise((resolve) => setImmediate(resolve)))
    sliceEndsAt = performance.now() + SLICE_MS
  },
} as const

/**
 * Runs work that yields between short steps, in slices.
 *
 * @throws what the work throws
 * @returns what the work returns
 */
export async function inSlices<Result>(work: Iterator<unknown, Result, undefined>): Promise<Result> {
  for (;;) {
    if (slices.areDue) await slices.next()
    const step = work.next()
    if (step.done === true) return step.value
  }
}
