import { type AbortableQueryOptions, sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'

/** A period in parts of equal length. */
export interface Period {
  readonly from: Date
  readonly to: Date
  readonly buckets: number
}

interface BucketRow {
  readonly bucket: number
  readonly count: number
}

/** How much of the endpoint arrived, and how many attempts failed, in each part of the period. */
export async function countTraffic(
  db: Db,
  endpointId: string,
  { from, to, buckets }: Period,
  options: AbortableQueryOptions,
) {
  const bucketOf = (column: string) =>
    sql<number>`least(${buckets}::int, width_bucket(extract(epoch from ${sql.ref(column)}),
      extract(epoch from ${from}::timestamptz), extract(epoch from ${to}::timestamptz), ${buckets}::int))`
  const captured: BucketRow[] = await db
    .selectFrom('requests')
    .where('endpointId', '=', endpointId)
    .where('deletedAt', 'is', null)
    .where('hiddenAt', 'is', null)
    .where('receivedAt', '>=', from)
    .where('receivedAt', '<', to)
    .select([bucketOf('received_at').as('bucket'), sql<number>`count(*)::int`.as('count')])
    .groupBy('bucket')
    .execute(options)
  const failed: BucketRow[] = await db
    .selectFrom('deliveryAttempts')
    .where('endpointId', '=', endpointId)
    .where('state', 'in', ['Failed', 'Errored', 'DeadLetter'])
    .where('at', '>=', from)
    .where('at', '<', to)
    .select([bucketOf('at').as('bucket'), sql<number>`count(*)::int`.as('count')])
    .groupBy('bucket')
    .execute(options)
  const inBucket = (rows: readonly BucketRow[], bucket: number) =>
    rows.find((row) => row.bucket === bucket)?.count ?? 0
  const lengthMs = (to.getTime() - from.getTime()) / buckets
  return {
    from,
    to,
    buckets: Array.from({ length: buckets }, (_, index) => ({
      from: new Date(from.getTime() + Math.round(index * lengthMs)),
      capturedCount: inBucket(captured, index + 1),
      failedCount: inBucket(failed, index + 1),
    })),
  }
}
