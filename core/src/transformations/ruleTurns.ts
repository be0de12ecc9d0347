import { setTimeout as sleep } from 'node:timers/promises'
import { setNewest } from '../platform/memory/index.ts'
import { Turns } from '../platform/turns/index.ts'

/** A rule set whose last run took less runs at once; in milliseconds. */
const CHEAP_MS = 5
/** Pause after an expensive run, as a multiple of its duration: rules get a fifth of the process's time. */
const REST_FACTOR = 4
/** Maximum wait, in milliseconds; then a rule set runs without a pause, because its attempt has a lease. */
const WAIT_MS_MAX = 20_000
/** Actions with a remembered cost. */
const REMEMBERED_MAX = 10_000

/** Runs rule sets without starving captures and the API in the same process. */
export interface RuleTurns {
  /**
   * Runs a rule set: at once if its last run was cheap, else with pauses between runs, for which workspaces take turns.
   *
   * @param actionId the action of the rules
   * @param evaluate must be synchronous, because its duration is measured
   */
  run<Result>(workspaceId: string, actionId: string, evaluate: () => Result): Promise<Result>
}

/** @param clock monotonic milliseconds; tests pass their own */
export function createRuleTurns(clock: () => number = () => performance.now()): RuleTurns {
  const costs = new Map<string, number>()
  const turns = new Turns({ atOnce: 1, inAll: 1 })
  let restUntil = 0

  const measured = <Result>(actionId: string, evaluate: () => Result): Result => {
    const startedAt = clock()
    try {
      return evaluate()
    } finally {
      const cost = clock() - startedAt
      setNewest(costs, actionId, cost, REMEMBERED_MAX)
      if (cost > CHEAP_MS) restUntil = clock() + cost * REST_FACTOR
    }
  }

  return {
    async run(workspaceId, actionId, evaluate) {
      if ((costs.get(actionId) ?? 0) <= CHEAP_MS) return measured(actionId, evaluate)
      const arrivedAt = clock()
      return await turns.run(workspaceId, async () => {
        const rest = Math.min(restUntil - clock(), arrivedAt + WAIT_MS_MAX - clock())
        // Also without a pause, so that waiting events are handled first.
        await sleep(Math.max(0, rest))
        return measured(actionId, evaluate)
      })
    },
  }
}

/** The queue of this process's deliveries. */
export const ruleTurns: RuleTurns = createRuleTurns()
