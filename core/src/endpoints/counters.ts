import type { Db, Trx } from '../platform/db/index.ts'

/** Sums over requests, each an SQL expression. */
export interface StoredSums {
  readonly requests: string
  readonly bytes: string
  /** Bytes that count against the limits of storage. */
  readonly storageBytes: string
}

/**
 * Changes of an endpoint's counters, each an SQL expression. `c` is the row before the change. An expression with `-`
 * or `+` in it is the right operand of an addition.
 */
export interface CounterChange {
  readonly stored?: StoredSums
  /** Requests that are stored no longer. */
  readonly unstored?: StoredSums
  /** Bytes of stored requests that had not been counted. */
  readonly uncountedBytes?: string
  /** Requests that were moved to the recycle bin. */
  readonly binned?: string
  /** Requests that left the recycle bin. */
  readonly unbinned?: string
  /** Requests that left the recycle bin for want of room, and the time. */
  readonly binEvicted?: { readonly count: string; readonly at: string }
  readonly evicted?: string
  /** Id up to which requests were evicted or expired; null leaves it. It never falls. */
  readonly removedUpTo?: string
  /** New value of the low-water mark: no stored request has a lower id. */
  readonly oldestRequestId?: string
  /** Time of a capture; null leaves the time of the last one. It never falls. */
  readonly requestAt?: string
  /** New values of the window of the capture rate. */
  readonly window?: { readonly startedAt: string; readonly count: string; readonly bytes: string }
  /** Captures over the rate, and the new time of the last one. */
  readonly rejected?: { readonly count: string; readonly lastAt: string }
  /** Time of an alert about rejections. It reports the rejections until then. */
  readonly rejectionsAlertedAt?: string
  /** Captures that were refused for their sender: number, time and trace of the last one. */
  readonly refused?: { readonly count: string; readonly lastAt: string; readonly trace: string }
  /** Captures that were counted and not stored: number, and the new time of the last one. */
  readonly discarded?: { readonly count: string; readonly lastAt: string }
  /** Claims of events that were added. */
  readonly claimed?: string
  /** Claims of events that were removed. */
  readonly unclaimed?: string
}

/**
 * SQL for the one way to change counters: an `update` of `endpoint_counters c`, to be continued by `from` and `where`.
 * The statement that changes the rows also changes their counters, or holds their lock.
 */
export function updateCounters(change: CounterChange): string {
  return `update endpoint_counters c set\n    ${assignments(change).join(',\n    ')}`
}

/**
 * SQL for whether a statement that has locked the counters `c` sees what was restored before: a restore lowers the mark
 * and empties the bin. While a statement waited for the lock, requests may have been restored that it sees in the bin
 * still: it must not raise the mark above them. `s` are the counters as it sees the requests.
 */
export const SEES_RESTORED = `(
  select s.oldest_request_id <= c.oldest_request_id and s.binned_request_count = c.binned_request_count
  from endpoint_counters s where s.endpoint_id = c.endpoint_id
)`

/** Adds the counters of a new endpoint: all 0. */
export async function insertCounters(trx: Trx, endpointId: string): Promise<void> {
  await trx.insertInto('endpointCounters').values({ endpointId }).execute()
}

function assignments(of: CounterChange) {
  return [
    ...add('stored_request_count', of.stored?.requests),
    ...add('stored_bytes', of.stored?.bytes),
    ...add('storage_bytes', of.stored?.storageBytes ?? of.uncountedBytes),
    ...take('stored_request_count', of.unstored?.requests),
    ...take('stored_bytes', of.unstored?.bytes),
    ...take('storage_bytes', of.unstored?.storageBytes),
    ...add('binned_request_count', of.binned),
    ...take('binned_request_count', of.unbinned),
    ...add('bin_evicted_count', of.binEvicted?.count),
    ...set('bin_evicted_at', of.binEvicted?.at),
    ...add('evicted_count', of.evicted),
    ...raise('removed_up_to', of.removedUpTo),
    ...set('oldest_request_id', of.oldestRequestId),
    ...raise('last_request_at', of.requestAt),
    ...set('window_started_at', of.window?.startedAt),
    ...set('window_count', of.window?.count),
    ...set('window_bytes', of.window?.bytes),
    ...add('rejected_count', of.rejected?.count),
    ...add('rejected_since_alert', of.rejected?.count),
    ...set('last_rejected_at', of.rejected?.lastAt),
    ...set('rejection_alerted_at', of.rejectionsAlertedAt),
    ...set('rejected_since_alert', of.rejectionsAlertedAt === undefined ? undefined : '0'),
    ...add('refused_count', of.refused?.count),
    ...set('last_refused_at', of.refused?.lastAt),
    ...set('last_refusal', of.refused?.trace),
    ...add('discarded_count', of.discarded?.count),
    ...set('last_discarded_at', of.discarded?.lastAt),
    ...add('claim_count', of.claimed),
    ...take('claim_count', of.unclaimed),
  ]
}

const set = (column: string, value: string | undefined) =>
  value === undefined ? [] : [`${column} = ${value}`]
const add = (column: string, value: string | undefined) =>
  value === undefined ? [] : [`${column} = c.${column} + ${value}`]
const take = (column: string, value: string | undefined) =>
  value === undefined ? [] : [`${column} = c.${column} - (${value})`]
const raise = (column: string, value: string | undefined) =>
  value === undefined ? [] : [`${column} = greatest(c.${column}, ${value})`]

/** The trace of the last sender that an endpoint has refused; null without one. */
export async function lastRefusal(db: Db, endpointId: string): Promise<string | null> {
  const row = await db
    .selectFrom('endpointCounters')
    .where('endpointId', '=', endpointId)
    .select('lastRefusal')
    .executeTakeFirst()
  return row?.lastRefusal ?? null
}

export async function forgetRefusal(trx: Trx, endpointId: string): Promise<void> {
  await trx
    .updateTable('endpointCounters')
    .set({ lastRefusal: null })
    .where('endpointId', '=', endpointId)
    .execute()
}
