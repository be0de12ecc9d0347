import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Database, Db } from '../platform/db/index.ts'
import type { ListFilters, RequestFilters } from './schema.ts'
import { containsText } from './search.ts'
import type { Shortcut } from './searchShortcut.ts'

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

/** What the deliveries of `requests as r` add up to: a row for each. */
export function deliverySummary(db: Db) {
  return (
    db
      // Each is looked up only where a query names it.
      .selectNoFrom([
        sql<string | null>`(select of.state from delivery_attempts of
          where of.endpoint_id = r.endpoint_id and of.request_id = r.id order by of.id desc limit 1)`.as(
          'latestState',
        ),
        // Not "exists", for which a page of rows may have the whole queue read into a hash table.
        sql<boolean | null>`(select true from deliveries of
          where of.endpoint_id = r.endpoint_id and of.request_id = r.id and of.finished_at is null limit 1)`.as(
          'isOpen',
        ),
        sql<number>`(select count(*)::int from delivery_attempts of
          where of.endpoint_id = r.endpoint_id and of.request_id = r.id)`.as('attemptCount'),
      ])
      .$castTo<DeliverySummary>()
  )
}

/** Narrows a query over visible requests; one implementation for list, await and suggest. */
export function applyFilters<Output>(
  query: SelectQueryBuilder<FilteredTables, 'r' | 'd', Output>,
  filters: ListFilters,
): SelectQueryBuilder<FilteredTables, 'r' | 'd', Output> {
  const { afterId, beforeId } = filters
  let filtered = query
  if (afterId !== undefined) filtered = filtered.where('r.id', '>', afterId)
  if (beforeId !== undefined) filtered = filtered.where('r.id', '<', beforeId)
  for (const condition of contentConditions(filters)) filtered = filtered.where(condition)
  return filtered
}

/**
 * What the filters ask of `requests as r` with `deliverySummary as d`, but for its id; the cheap first.
 *
 * @param shortcut to the text that is searched for; see {@link containsText}
 */
export function contentConditions(
  filters: Partial<RequestFilters>,
  shortcut?: Shortcut,
): RawBuilder<SqlBool>[] {
  const { method, state, q, since, until, verification, label } = filters
  const conditions: RawBuilder<SqlBool>[] = []
  if (method !== undefined) conditions.push(sql`upper(r.method) = upper(${method})`)
  if (since !== undefined) conditions.push(sql`r.received_at >= ${since}`)
  if (until !== undefined) conditions.push(sql`r.received_at < ${until}`)
  if (label !== undefined) conditions.push(sql`r.label = ${label}`)
  if (verification === 'none') conditions.push(sql`r.verdict is null`)
  else if (verification !== undefined) conditions.push(sql`r.verdict = ${verification}`)
  if (state !== undefined) conditions.push(sql`${requestState} = ${state}`)
  if (q !== undefined) conditions.push(containsText(q, shortcut))
  return conditions
}

/** Whether any filter but `afterId` needs the rows themselves. */
export function hasFilters(filters: ListFilters): boolean {
  return Object.values(filters).some((value) => value !== undefined)
}
