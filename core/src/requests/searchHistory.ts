import type { Context } from '../api/context.ts'
import type { Condition } from '../engine/conditions/index.ts'
import { type HistoricMatch, type HistoryRange, matchingRequests } from './history.ts'
import { searching } from './searching.ts'

/** For so long a look through the history goes on. What it has found by then is its answer. */
const HISTORY_MS = 3_000

/** Matches that were found, newest first. */
export interface HistorySearch {
  readonly matches: readonly HistoricMatch[]
  /** False when the time was up before all of the history was looked through, or the limit was reached. */
  readonly isComplete: boolean
}

/**
 * Looks through the stored requests of an endpoint for those that satisfy a condition, however large they are, for three seconds by
 * default. Runs as a search: see {@link searching}.
 *
 * @param budgetMs after so long it ends with what it has found
 * @throws LineTooLong as {@link searching} does
 */
export async function searchHistory(
  ctx: Pick<Context, 'reads' | 'signal' | 'workspace'>,
  endpointId: string,
  condition: Condition,
  range: HistoryRange,
  budgetMs = HISTORY_MS,
): Promise<HistorySearch> {
  return await searching(ctx, `history of ${endpointId}`, async (db, options) => {
    const deadline = AbortSignal.timeout(budgetMs)
    const signal = AbortSignal.any([ctx.signal, deadline])
    const matches: HistoricMatch[] = []
    try {
      const found = matchingRequests(db, endpointId, condition, range, { ...options, signal })
      for await (const match of found) matches.push(match)
    } catch (error) {
      if (!deadline.aborted || ctx.signal.aborted) throw error
      return { matches, isComplete: false }
    }
    return { matches, isComplete: true }
  })
}
