import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from '../platform/db/index.ts'
import type { ListFilters } from './schema.ts'
import { containsText } from './search.ts'

/** What the attempts of a request add up to; looked up per row through `delivery_attempts_by_request`. */
export interface DeliverySummary {
  latestState: string | null
  isOpen: boolean | null
  attemptCount: number | null
}

/** `requests as r` with `deliverySummary as d` joined. */
type FilteredTables = Database & { r: Database['requests']; d: DeliverySummary }

/**
 * The state of a request: that of its latest attempt, else Pending while a job waits, else what the capture
 * decided; NotAttempted when the jobs were dropped before any try.
 */
export const requestState = sql<string>`coalesce(d.latest_state,
  case when d.is_open then 'Pending' when r.dispatch_state = 'Skipped' then 'Skipped' else 'NotAttempted' end)`

/** Narrows a query over visible requests; one implementation for list, await and suggest. */
export function applyFilters<Output>(
  query: SelectQueryBuilder<FilteredTables, 'r' | 'd', Output>,
  filters: ListFilters,
): SelectQueryBuilder<FilteredTables, 'r' | 'd', Output> {
  let filtered = query
  const { method, state, q, since, until, afterId, beforeId, verification, label } = filters
  if (afterId !== undefined) filtered = filtered.where('r.id', '>', afterId)
  if (beforeId !== undefined) filtered = filtered.where('r.id', '<', beforeId)
  if (method !== undefined) filtered = filtered.where(sql<SqlBool>`upper(r.method) = upper(${method})`)
  if (since !== undefined) filtered = filtered.where('r.receivedAt', '>=', since)
  if (until !== undefined) filtered = filtered.where('r.receivedAt', '<', until)
  if (label !== undefined) filtered = filtered.where('r.label', '=', label)
  if (verification === 'none') filtered = filtered.where('r.verdict', 'is', null)
  else if (verification !== undefined) filtered = filtered.where('r.verdict', '=', verification)
  if (state !== undefined) filtered = filtered.where(requestState, '=', state)
  if (q !== undefined) filtered = filtered.where(containsText(q))
  return filtered
}

/** Whether any filter but `afterId` needs the rows themselves. */
export function hasFilters(filters: ListFilters): boolean {
  return Object.values(filters).some((value) => value !== undefined)
}
