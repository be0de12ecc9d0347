import { type AbortableQueryOptions, sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'

/** A period in parts of equal length. */
export interface Period {
  readonly from: Date
  readonly to: Date
  readonly buckets: number
}

/** Whose traffic is counted. */
export type TrafficOf = { readonly endpointId: string } | { readonly workspaceId: string }

/** `bucket` counts from 1. */
interface CountRow {
  readonly endpointId: string
  readonly bucket: number
  readonly count: number
}

/** How much arrived, and how many attempts failed, in each part of the period and at each endpoint that has any. */
export async function countTraffic(db: Db, of: TrafficOf, period: Period, options: AbortableQueryOptions) {
  const captured = await captures(db, of, period).execute(options)
  const failed = await failures(db, of, period).execute(options)
  const { from, to, buckets } = period
  const lengthMs = (to.getTime() - from.getTime()) / buckets
  const endpointIds = new Set([...captured, ...failed].map(({ endpointId }) => endpointId))
  const countsWhere = (isMeant: (row: CountRow) => boolean) => ({
    capturedCount: sum(captured.filter(isMeant)),
    failedCount: sum(failed.filter(isMeant)),
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

/** What is still stored. */
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

function failures(db: Db, of: TrafficOf, period: Period) {
  return db
    .selectFrom('deliveryAttempts')
    .where('endpointId', 'in', idsOf(db, of))
    .where('state', 'in', ['Failed', 'Errored', 'DeadLetter'])
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
