import { type AbortableQueryOptions, sql } from 'kysely'
import { FAILED_STATES } from '../engine/words/index.ts'
import type { Db } from '../platform/db/index.ts'
import { type CountRow, MINUTE_MS, type Period, spread } from './spread.ts'

/** Scope of the counts. */
export type TrafficOf = { readonly endpointId: string } | { readonly workspaceId: string }

/**
 * Counts captures, failed attempts, captures refused for the rate, and discarded duplicates, in each part of the
 * period, for each endpoint that has any.
 */
export async function countTraffic(db: Db, of: TrafficOf, period: Period, options: AbortableQueryOptions) {
  const captured = await captures(db, of, period).execute(options)
  const failed = await failures(db, of, period).execute(options)
  const unstored = await notStored(db, of, period).execute(options)
  const rejected = spread(
    unstored.map((row) => ({ ...row, count: row.rejectedCount })),
    period,
  )
  const discarded = spread(
    unstored.map((row) => ({ ...row, count: row.discardedCount })),
    period,
  )
  const { from, to, buckets } = period
  const lengthMs = (to.getTime() - from.getTime()) / buckets
  const endpointIds = new Set(
    [...captured, ...failed, ...rejected, ...discarded].map(({ endpointId }) => endpointId),
  )
  const countsWhere = (isMeant: (row: CountRow) => boolean) => ({
    capturedCount: sum(captured.filter(isMeant)),
    failedCount: sum(failed.filter(isMeant)),
    rejectedCount: sum(rejected.filter(isMeant)),
    discardedCount: sum(discarded.filter(isMeant)),
  })
  return {
    from,
    to,
    buckets: Array.from({ length: buckets }, (_, index) => ({
      from: new Date(from.getTime() + Math.round(index * lengthMs)),
      ...countsWhere(({ bucket }) => bucket === index + 1),
    })),
    endpoints: [...endpointIds].map((id) => ({
      endpointId: id,
      ...countsWhere(({ endpointId }) => endpointId === id),
    })),
  }
}

const sum = (rows: readonly CountRow[]) => rows.reduce((total, { count }) => total + count, 0)

/** Captures that are still stored. */
function captures(db: Db, of: TrafficOf, period: Period) {
  return db
    .selectFrom('requests')
    .where('endpointId', 'in', idsOf(db, of))
    .where('deletedAt', 'is', null)
    .where('hiddenAt', 'is', null)
    .where('receivedAt', '>=', period.from)
    .where('receivedAt', '<', period.to)
    .select(['endpointId', bucketOf('received_at', period).as('bucket')])
    .select(sql<number>`count(*)::int`.as('count'))
    .groupBy(['endpointId', 'bucket'])
}

/** Refused captures and discarded duplicates in the minutes that touch the period. */
function notStored(db: Db, of: TrafficOf, { from, to }: Period) {
  return db
    .selectFrom('rejectionMinutes')
    .where('endpointId', 'in', idsOf(db, of))
    .where('minute', '>', new Date(from.getTime() - MINUTE_MS))
    .where('minute', '<', to)
    .select(['endpointId', 'minute', 'rejectedCount', 'discardedCount'])
}

function failures(db: Db, of: TrafficOf, period: Period) {
  return db
    .selectFrom('deliveryAttempts')
    .where('endpointId', 'in', idsOf(db, of))
    .where('state', 'in', FAILED_STATES)
    .where('at', '>=', period.from)
    .where('at', '<', period.to)
    .select(['endpointId', bucketOf('at', period).as('bucket')])
    .select(sql<number>`count(*)::int`.as('count'))
    .groupBy(['endpointId', 'bucket'])
}

function idsOf(db: Db, of: TrafficOf) {
  return db
    .selectFrom('endpoints')
    .where('deletedAt', 'is', null)
    .$if('endpointId' in of, (query) => query.where('id', '=', 'endpointId' in of ? of.endpointId : ''))
    .$if('workspaceId' in of, (query) =>
      query.where('workspaceId', '=', 'workspaceId' in of ? of.workspaceId : ''),
    )
    .select('id')
}

function bucketOf(column: string, { from, to, buckets }: Period) {
  return sql<number>`least(${buckets}::int, width_bucket(extract(epoch from ${sql.ref(column)}),
    extract(epoch from ${from}::timestamptz), extract(epoch from ${to}::timestamptz), ${buckets}::int))`
}
