import type { Found } from './scan.ts'
import type { ListFilters } from './schema.ts'

/** Total of a search, as far as one call can know it. */
export interface SearchTotals {
  /**
   * Number of all matches: exact if `isExact`, else an estimate. It is not 0 while stored requests were not looked
   * through.
   */
  readonly totalCount: number
  readonly isExact: boolean
}

interface Asked {
  readonly filters: Partial<ListFilters>
  /** Whether the call began or ended at the cursor of a page. */
  readonly hasCursor: boolean
  /** Number of visible requests of the endpoint. */
  readonly storedCount: number
}

/**
 * The total of a search. It is exact if the call looked through everything. Else the searched part is a sample of all
 * stored requests. Filters by id narrow the requests by an unknown part: with them the total is the number of matches
 * found.
 */
export function searchTotals(
  { matchedCount, lookedThrough, lookedTo }: Pick<Found, 'matchedCount' | 'lookedThrough' | 'lookedTo'>,
  { filters, hasCursor, storedCount }: Asked,
): SearchTotals {
  const isOver = lookedTo === null
  if (isOver && !hasCursor) return { totalCount: matchedCount, isExact: true }
  const { afterId, beforeId, eventId } = filters
  const isSample = afterId === undefined && beforeId === undefined && eventId === undefined
  const share = isSample && lookedThrough > 0 ? matchedCount / lookedThrough : 0
  const least = Math.max(matchedCount + (isOver ? 0 : 1), Math.min(1, storedCount))
  return { totalCount: Math.max(least, Math.round(share * storedCount)), isExact: false }
}
