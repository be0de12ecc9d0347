import type { Context } from '../api/context.ts'
import type { Condition } from '../engine/conditions/index.ts'
import { type HistoricMatch, type HistoryRange, matchingRequests } from './history.ts'
import { searching } from './searching.ts'

/** Time limit of a search through the history. The matches found by then are the answer. */
const HISTORY_MS = 3_000

/** Matches of a condition in the stored requests, newest first. */
export interface HistorySearch {
  readonly matches: readonly HistoricMatch[]
  /** False if the time limit ended the search before the end of the history and before `limit` matches. */
  readonly isComplete: boolean
}

/**
 * Searches the stored requests of an endpoint for those that satisfy a condition, for three seconds by default. It runs
 * as a search: see {@link searching}.
 *
 * @param budgetMs time limit, after which the matches found are returned
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
