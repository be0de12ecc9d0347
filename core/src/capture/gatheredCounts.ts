import { setTimeout as sleep } from 'node:timers/promises'
import type { CaptureSettings } from './captureSettings.ts'

export interface Gathered<Answer> {
  count: number
  /** Trace of the last refusal. */
  trace: string
  readonly answer: PromiseWithResolvers<Answer>
}

/** Pause between two counts, so that the refusals of a flood share them. */
const REST_MS = 20

/**
 * Gathers refusals while earlier ones are counted, so that a flood costs one statement for each 20 ms and not one for
 * each capture.
 *
 * @param settle counts a batch and settles every answer in it; must not reject
 * @returns a function that adds a refusal, and settles with the answer of its endpoint
 */
export function gatherCounts<Answer>(
  settle: (batch: ReadonlyMap<CaptureSettings, Gathered<Answer>>) => Promise<void>,
): (settings: CaptureSettings, trace?: string) => Promise<Answer> {
  let waiting = new Map<CaptureSettings, Gathered<Answer>>()
  let counting = false

  const countWaiting = async () => {
    counting = true
    while (waiting.size > 0) {
      const batch = waiting
      waiting = new Map()
      await settle(batch)
      await sleep(REST_MS)
    }
    counting = false
  }

  return (settings, trace = '') => {
    const known = waiting.get(settings)
    if (known !== undefined) {
      known.count += 1
      known.trace = trace
      return known.answer.promise
    }
    const entry: Gathered<Answer> = { count: 1, trace, answer: Promise.withResolvers() }
    waiting.set(settings, entry)
    if (!counting) void countWaiting()
    return entry.answer.promise
  }
}
