import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from '../platform/db/index.ts'
import type { ListFilters, RequestFilters } from './schema.ts'
import { containsText } from './search.ts'
import type { Shortcut } from './searchShortcut.ts'
import { hasDeadLetters, hasFailures, requestState } from './state.ts'

/** The tables of a query over `requests as r`. */
type FilteredTables = Database & { r: Database['requests'] }

/** Narrows a query over visible requests. List, await and suggest share it. */
export function applyFilters<Output>(
  query: SelectQueryBuilder<FilteredTables, 'r', Output>,
  filters: ListFilters,
): SelectQueryBuilder<FilteredTables, 'r', Output> {
  const { afterId, beforeId } = filters
  let filtered = query
  if (afterId !== undefined) filtered = filtered.where('r.id', '>', afterId)
  if (beforeId !== undefined) filtered = filtered.where('r.id', '<', beforeId)
  for (const condition of contentConditions(filters)) filtered = filtered.where(condition)
  return filtered
}

/**
 * SQL conditions of the filters on `requests as r`, except those on its id. The cheap ones come first.
 *
 * @param shortcut shortcut to the searched text; see {@link containsText}
 */
export function contentConditions(
  filters: Partial<RequestFilters>,
  shortcut?: Shortcut,
): RawBuilder<SqlBool>[] {
  const { method, state, q, since, until, verification, label, eventId, duplicate } = filters
  const { deadLettered, needsAttention } = filters
  const conditions: RawBuilder<SqlBool>[] = []
  if (method !== undefined) conditions.push(sql`upper(r.method) = upper(${method})`)
  if (since !== undefined) conditions.push(sql`r.received_at >= ${since}`)
  if (until !== undefined) conditions.push(sql`r.received_at < ${until}`)
  if (label !== undefined) conditions.push(sql`r.label = ${label}`)
  if (eventId !== undefined) conditions.push(hasEventId(eventId))
  if (duplicate !== undefined)
    conditions.push(duplicate ? sql`r.duplicate_of is not null` : sql`r.duplicate_of is null`)
  if (verification === 'none') conditions.push(sql`r.verdict is null`)
  else if (verification !== undefined) conditions.push(sql`r.verdict = ${verification}`)
  if (state !== undefined) conditions.push(sql`${requestState} = ${state}`)
  if (needsAttention !== undefined) conditions.push(sql`${hasFailures} = ${needsAttention}`)
  if (deadLettered !== undefined) conditions.push(sql`${hasDeadLetters} = ${deadLettered}`)
  if (q !== undefined) conditions.push(containsText(q, shortcut))
  return conditions
}

/** SQL condition for an event id. Served by the index of requests that have one. */
export const hasEventId = (eventId: string): RawBuilder<SqlBool> => sql`r.event_id = ${eventId}`

export function hasFilters(filters: Partial<ListFilters>): boolean {
  return Object.values(filters).some((value) => value !== undefined)
}

/** Whether all filters that are set are bounds of ids, so that no row need be read to decide. */
export function isRange({ afterId: _after, beforeId: _before, ...others }: ListFilters): boolean {
  return !hasFilters(others)
}
