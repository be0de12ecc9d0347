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
    const one = await searchOne(endpoint, filters, signal)
    if (signal.aborted) return
    if (one.items.length > 0) found.push(one)
    tell([...found], index + 1)
  }
}

/** Searches an endpoint until there are as many matches as are shown, or to its end. */
async function searchOne(endpoint: Endpoint, filters: Filters, signal: AbortSignal): Promise<Found> {
  const read = (from: { before?: string }) =>
    creel.requests.list.query(
      { endpointId: endpoint.id, ...filters, ...from, partial: true, pageSize: SHOWN_MAX },
      { signal },
    )
  const first = await read({})
  const { items, totalCount } = first
  if (first.search?.complete !== false) return { endpoint, items, totalCount, isEstimate: false }
  const all = [...items]
  let page = first
  while (page.next !== null && all.length < SHOWN_MAX) {
    page = await read({ before: page.next })
    all.push(...page.items)
  }
  const isEstimate = page.next !== null
  const about = isEstimate ? Math.max(all.length, page.totalCount) : all.length
  return { endpoint, items: all.slice(0, SHOWN_MAX), totalCount: about, isEstimate }
}
