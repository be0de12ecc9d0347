import type { Found } from './scan.ts'
import type { ListFilters } from './schema.ts'

/** How many requests a search finds in all, as far as one call of it tells. */
export interface SearchTotals {
  /** Of all that match: exact where `isExact`, else an estimate. Not 0 where something is stored that was not looked through. */
  readonly totalCount: number
  readonly isExact: boolean
}

/** What was asked besides what was found. */
interface Asked {
  readonly filters: Partial<ListFilters>
  /** The call began or ended at the cursor of a page. */
  readonly hasCursor: boolean
  /** All visible requests of the endpoint. */
  readonly storedCount: number
}

/**
 * The total of a search. It is exact where the call looked through everything. Else what was looked through is taken for a sample of all
 * that is stored; filters by id narrow what there is by an unknown part, so for them only what was found counts.
 */
export function searchTotals(
  { matchedCount, lookedThrough, lookedDownTo }: Omit<Found, 'ids'>,
  { filters, hasCursor, storedCount }: Asked,
): SearchTotals {
  const isOver = lookedDownTo === null
  if (isOver && !hasCursor) return { totalCount: matchedCount, isExact: true }
  const { afterId, beforeId, eventId } = filters
  const isSample = afterId === undefined && beforeId === undefined && eventId === undefined
  const share = isSample && lookedThrough > 0 ? matchedCount / lookedThrough : 0
  const least = Math.max(matchedCount + (isOver ? 0 : 1), Math.min(1, storedCount))
  return { totalCount: Math.max(least, Math.round(share * storedCount)), isExact: false }
}
