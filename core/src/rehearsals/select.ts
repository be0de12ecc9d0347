import { sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'
import { applyFilters, visibleRequests } from '../requests/index.ts'
import { REQUESTS_MAX } from './bounds.ts'
import { sampleOf } from './random.ts'
import type { Captured } from './schedule.ts'
import type { StartInput } from './schema.ts'

/** The requests of a replay, in the order of arrival, and how many match. */
export interface Selected {
  readonly captured: readonly Captured[]
  readonly matchedCount: number
}

/** The most requests of which a sample is taken: the newest. */
const MATCHES_MAX = 100_000

/** Chooses the requests of a replay. Oversize traces are left out: their bodies are not whole. */
export async function selectRequests(
  db: Db,
  endpointId: string,
  { requestIds, filter, sample }: StartInput['select'],
  random: () => number,
): Promise<Selected> {
  let query = visibleRequests(db, endpointId).where('r.bodyTruncated', '=', false)
  if (requestIds !== undefined) query = query.where('r.id', 'in', requestIds)
  if (filter !== undefined) {
    const { label } = filter
    const prefix = label?.endsWith('*') === true ? label.slice(0, -1) : undefined
    query = applyFilters(query, prefix === undefined ? filter : { ...filter, label: undefined })
    if (prefix !== undefined) query = query.where(sql<boolean>`starts_with(r.label, ${prefix})`)
  }
  const rows = await query
    .select(['r.id', 'r.receivedAt'])
    .orderBy('r.id', 'desc')
    .limit(MATCHES_MAX)
    .execute()
  // Imported requests keep their times and have newer ids, so ids alone are not the order of arrival.
  const all = rows
    .map(({ id, receivedAt }) => ({ requestId: id, receivedAtMs: receivedAt.getTime() }))
    .sort((one, two) => one.receivedAtMs - two.receivedAtMs || one.requestId - two.requestId)
  const captured = sample === undefined ? all.slice(-REQUESTS_MAX) : sampleOf(all, sample, random)
  return { captured, matchedCount: all.length }
}
