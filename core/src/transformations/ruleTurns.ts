import { setTimeout as sleep } from 'node:timers/promises'
import { Turns } from '../platform/turns/index.ts'

/** A rule set that took less the last time runs at once; in milliseconds. */
const CHEAP_MS = 5
/** After an expensive one the process does other things for so many times as long: rules get a fifth of its time. */
const REST_FACTOR = 4
/** One that has waited so long, in milliseconds, runs without a rest before it: its attempt has a lease. */
const WAIT_MS_MAX = 20_000
/** Costs are remembered for so many actions. */
const REMEMBERED_MAX = 10_000

/** Lets rule sets run so that captures and the API of the same process are not kept waiting. */
export interface RuleTurns {
  /**
   * Runs a rule set: at once when it was cheap the last time, else one after the other and with rests in between.
   *
   * @param actionId whose rules they are
   * @param evaluate must not be asynchronous: what it takes is measured
   */
  run<Result>(actionId: string, evaluate: () => Result): Promise<Result>
}

/** @param clock milliseconds that never go back; tests give their own */
export function createRuleTurns(clock: () => number = () => performance.now()): RuleTurns {
  const costs = new Map<string, number>()
  const turns = new Turns({ atOnce: 1 })
  let restUntil = 0

  const measured = <Result>(actionId: string, evaluate: () => Result): Result => {
    const startedAt = clock()
    try {
      return evaluate()
    } finally {
      const cost = clock() - startedAt
      // Deleted first: the map is ordered by use, and the oldest goes when it is full.
      costs.delete(actionId)
      costs.set(actionId, cost)
      const [oldest] = costs.keys()
      if (costs.size > REMEMBERED_MAX && oldest !== undefined) costs.delete(oldest)
      if (cost > CHEAP_MS) restUntil = clock() + cost * REST_FACTOR
    }
  }

  return {
    async run(actionId, evaluate) {
      if ((costs.get(actionId) ?? 0) <= CHEAP_MS) return measured(actionId, evaluate)
      const arrivedAt = clock()
      return await turns.run('', async () => {
        const rest = Math.min(restUntil - clock(), arrivedAt + WAIT_MS_MAX - clock())
        // Also without a rest: what waits on the event loop goes first.
        await sleep(Math.max(0, rest))
        return measured(actionId, evaluate)
      })
    },
  }
}

/** Those of this process's deliveries. */
export const ruleTurns: RuleTurns = createRuleTurns()
