import { creel, type Endpoint, type RequestSummary } from '../trpc.ts'
import type { Filters } from '../words/grammar.ts'

/** Matches shown of one endpoint; its own list has the rest. */
const SHOWN_MAX = 5

/** Matches of one endpoint. */
export interface Found {
  readonly endpoint: Endpoint
  /** The newest, at most {@link SHOWN_MAX}. */
  readonly items: readonly RequestSummary[]
  readonly totalCount: number
  /** Whether older requests were not looked through. */
  readonly isEstimate: boolean
}

/** Endpoints in the order in which they are searched: the latest capture first, those without captures not at all. */
export function searched(endpoints: readonly Endpoint[]): Endpoint[] {
  return endpoints
    .filter(({ storedRequestCount }) => storedRequestCount > 0)
    .sort((left, right) => (right.lastRequestAt ?? '').localeCompare(left.lastRequestAt ?? ''))
}

/**
 * Searches endpoints one after the other, because searches of a workspace wait for each other anyway. An endpoint
 * without matches gives nothing.
 *
 * @param tell called with all results so far, and the number of endpoints that were searched
 */
export async function searchAll(
  endpoints: readonly Endpoint[],
  filters: Filters,
  { signal, tell }: { signal: AbortSignal; tell: (found: readonly Found[], searchedCount: number) => void },
): Promise<void> {
  const found: Found[] = []
  for (const [index, endpoint] of endpoints.entries()) {
    const list = await creel.requests.list.query(
      { endpointId: endpoint.id, ...filters, page: 1, pageSize: SHOWN_MAX },
      { signal },
    )
    if (signal.aborted) return
    const isEstimate = list.search?.complete === false
    if (list.items.length > 0 || isEstimate) {
      found.push({ endpoint, items: list.items, totalCount: list.totalCount, isEstimate })
    }
    tell([...found], index + 1)
  }
}
