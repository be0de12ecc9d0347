import { type AbortableQueryOptions, sql } from 'kysely'
import type { Services } from '../api/services.ts'
import { FAILED_STATES } from '../engine/words/index.ts'
import type { Db } from '../platform/db/index.ts'
import { DAY_MS } from '../platform/time/index.ts'

/** A period divided into parts of equal length. */
interface Period {
  readonly from: Date
  readonly to: Date
  readonly buckets: number
}

/** A count of one endpoint in one part of a period; `bucket` counts from 1. */
interface CountRow {
  readonly endpointId: string
  readonly bucket: number
  readonly count: number
}

type MinuteCount = Omit<CountRow, 'bucket'> & { readonly minute: Date }

export const MINUTE_MS = 60_000

/**
 * Distributes counts of minutes over the parts of a period. A minute that spans several parts is divided into whole
 * numbers; the shares of a minute within the period add up to its count. If the period cuts a minute, the parts within
 * get all of its count, because the newest minute has only begun.
 */
export function spread(minutes: readonly MinuteCount[], { from, to, buckets }: Period): CountRow[] {
  const begin = from.getTime()
  const lengthMs = (to.getTime() - begin) / buckets
  const bucketAt = (ms: number) => Math.min(buckets, Math.max(1, Math.floor((ms - begin) / lengthMs) + 1))
  return minutes.flatMap(({ endpointId, minute, count }) => {
    const first = bucketAt(minute.getTime())
    const last = bucketAt(Math.min(to.getTime(), minute.getTime() + MINUTE_MS) - 1)
    const parts = last - first + 1
    return Array.from({ length: parts }, (_, part) => ({
      endpointId,
      bucket: first + part,
      count: Math.floor((count * (part + 1)) / parts) - Math.floor((count * part) / parts),
    }))
  })
}

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
  const parts = (count: 'rejectedCount' | 'discardedCount') => {
    const minutes = unstored.map((row) => ({ ...row, count: row[count] }))
    return spread(minutes, period)
  }
  const [rejected, discarded] = [parts('rejectedCount'), parts('discardedCount')]
  const { from, to, buckets } = period
  const lengthMs = (to.getTime() - from.getTime()) / buckets
  const byBucket = Array.from({ length: buckets }, noCounts)
  const byEndpoint = new Map<string, Counts>()
  // In one pass, as there may be thousands of endpoints.
  const add = (name: keyof Counts, rows: readonly CountRow[]) => {
    for (const { endpointId, bucket, count } of rows) {
      const ofEndpoint = byEndpoint.get(endpointId) ?? noCounts()
      byEndpoint.set(endpointId, ofEndpoint)
      ofEndpoint[name] += count
      const ofBucket = byBucket[bucket - 1]
      if (ofBucket !== undefined) ofBucket[name] += count
    }
  }
  add('capturedCount', captured)
  add('failedCount', failed)
  add('rejectedCount', rejected)
  add('discardedCount', discarded)
  return {
    from,
    to,
    buckets: byBucket.map((counts, index) => ({
      from: new Date(from.getTime() + Math.round(index * lengthMs)),
      ...counts,
    })),
    endpoints: [...byEndpoint].map(([endpointId, counts]) => ({ endpointId, ...counts })),
  }
}

const noCounts = () => ({ capturedCount: 0, failedCount: 0, rejectedCount: 0, discardedCount: 0 })
type Counts = ReturnType<typeof noCounts>

/** Longer than a request takes from its first byte to its id, and than clocks of gateways differ. */
const LATE = `interval '1 hour'`
/** Ids at most that are looked through although their requests may be older. */
const STEP_IDS = 100

/**
 * SQL: an id of the endpoint `of`, up to which all requests came before `since`, found by halves: the ids of captures
 * increase in the order of arrival. Imported requests have any earlier time, so they are no sign.
 */
export const idBefore = (of: string, since: string) => `
  with recursive halves as (
    select 0::bigint as low, coalesce((select max(id) from requests where endpoint_id = ${of}), 0) as high
    union all
    select case when probe.is_before then probe.id else h.low end, case when probe.is_before then h.high else h.middle - 1 end
    from (select low, high, (low + high) / 2 + 1 as middle from halves where high - low > ${STEP_IDS}) h
    left join lateral (
      select id, not imported and received_at < ${since} - ${LATE} as is_before from requests
      where endpoint_id = ${of} and id >= h.middle and id <= h.high order by id limit 1
    ) probe on true
  )
  select max(low) as id from halves`

/** Captures that are still stored. */
function captures(db: Db, of: TrafficOf, period: Period) {
  const from = `to_timestamp(${period.from.getTime() / 1000})`
  return db
    .selectFrom(
      sql<{ id: string; before: number }>`(
      select e.id, before.id as before from (${idsOf(db, of)}) e
      cross join lateral (${sql.raw(idBefore('e.id', from))}) before)`.as('e'),
    )
    .innerJoin('requests as r', (join) =>
      join.onRef('r.endpointId', '=', 'e.id').onRef('r.id', '>', 'e.before'),
    )
    .where('r.deletedAt', 'is', null)
    .where('r.hiddenAt', 'is', null)
    .where('r.receivedAt', '>=', period.from)
    .where('r.receivedAt', '<', period.to)
    .select(['r.endpointId', bucketOf('received_at', period).as('bucket')])
    .select(sql<number>`count(*)::int`.as('count'))
    .groupBy(['r.endpointId', 'bucket'])
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

/** Maximum age of traffic counts, in days. */
export const TRAFFIC_DAYS_MAX = 90

/** Deletes minutes of refused captures that are too old for any count. */
export async function sweepRejections({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const keptSince = new Date(clock.now().getTime() - TRAFFIC_DAYS_MAX * DAY_MS)
  await db.deleteFrom('rejectionMinutes').where('minute', '<', keptSince).execute()
}
