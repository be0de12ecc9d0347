import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from '../db/index.ts'
import type { RequestFilters } from './schema.ts'

/** Text of a body is searched up to here (CONTRACT §3). */
export const SEARCHED_BODY_BYTES = 262_144

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
 * decided (CONTRACT §8); NotAttempted when the jobs were dropped before any try.
 */
export const requestState = sql<string>`coalesce(d.latest_state,
  case when d.is_open then 'Pending' when r.dispatch_state = 'Skipped' then 'Skipped' else 'NotAttempted' end)`

/** Narrows a query over visible requests; one implementation for list, await and suggest. */
export function applyFilters<Output>(
  query: SelectQueryBuilder<FilteredTables, 'r' | 'd', Output>,
  filters: RequestFilters,
): SelectQueryBuilder<FilteredTables, 'r' | 'd', Output> {
  let filtered = query
  const { method, state, q, since, until, afterId, verification, label } = filters
  if (afterId !== undefined) filtered = filtered.where('r.id', '>', afterId)
  if (method !== undefined) filtered = filtered.where(sql<SqlBool>`upper(r.method) = upper(${method})`)
  if (since !== undefined) filtered = filtered.where('r.receivedAt', '>=', new Date(since))
  if (until !== undefined) filtered = filtered.where('r.receivedAt', '<', new Date(until))
  if (label !== undefined) filtered = filtered.where('r.label', '=', label)
  if (verification === 'none') filtered = filtered.where('r.verdict', 'is', null)
  else if (verification !== undefined) filtered = filtered.where('r.verdict', '=', verification)
  if (state !== undefined) filtered = filtered.where(requestState, '=', state)
  if (q !== undefined) filtered = filtered.where(contains(q))
  return filtered
}

/** Whether any filter but `afterId` needs the rows themselves. */
export function hasFilters(filters: RequestFilters): boolean {
  return Object.values(filters).some((value) => value !== undefined)
}

/**
 * Substring search without case. Header values are bytes: they are compared as latin1, with the searched text once
 * as it is and once as its UTF-8 bytes in each case, so both spellings of a value are found (CONTRACT R17).
 */
function contains(q: string) {
  // The collation is named: what `convert_from` returns has that of its encoding's name, "C", whose `lower` knows
  // ASCII only.
  const inText = (text: RawBuilder<unknown>, wanted = q) =>
    sql<SqlBool>`strpos(lower(${text} collate "default"), lower(${wanted})) > 0`
  const headerValues = sql`convert_from(r.header_values, 'LATIN1')`
  const spellings = new Set([
    q,
    ...[q, q.toLowerCase(), q.toUpperCase()].map((text) => Buffer.from(text, 'utf8').toString('latin1')),
  ])
  return sql<SqlBool>`(
    ${inText(sql`r.path`)}
    or ${inText(sql`coalesce(r.query_string, '')`)}
    or ${sql.join(
      [...spellings].map((spelling) => inText(headerValues, spelling)),
      sql` or `,
    )}
    or case
      when r.body_is_binary then false
      when r.body_truncated or octet_length(r.body) > ${SEARCHED_BODY_BYTES}
        then ${inText(sql`body_text_prefix(r.body, ${SEARCHED_BODY_BYTES})`)}
      else ${inText(sql`convert_from(r.body, 'UTF8')`)}
    end)`
}
