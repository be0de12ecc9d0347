import type pg from 'pg'
import type { Plans } from '../plans/index.ts'
import {
  beforeSending,
  type Db,
  encodeArray,
  INT4,
  PLAN_ONCE_ON_CONNECTION,
  type RowsOf,
  run,
  TEXT,
  UUID,
} from '../platform/db/index.ts'
import { evictedRequests } from '../requests/index.ts'
import type { NewCapture } from './captureRow.ts'
import { WINDOW_SECONDS } from './captureSettings.ts'
import {
  CAPTURE,
  CAPTURE_ONCE,
  CAPTURE_ONCE_PARAMETERS,
  CAPTURE_PARAMETERS,
  columnParameter,
} from './captureSql.ts'
import { REQUEST_COLUMNS } from './requestColumns.ts'

/** Whether a capture was stored, or why not. */
export type CaptureOutcome =
  /**
   * The id is null unless the general statement stored it. `duplicateOf`: the first request of the same event; null for
   * the first itself, and for endpoints without `dedupe`.
   */
  | { readonly state: 'stored'; readonly id: number | null; readonly duplicateOf: number | null }
  /** A duplicate that is counted and not stored. */
  | { readonly state: 'discarded'; readonly duplicateOf: number }
  /** The endpoint is absent, deleted, expired, inactive or suspended. */
  | { readonly state: 'gone' }
  /** The settings changed since the capture was evaluated: it must be evaluated again. */
  | { readonly state: 'stale' }
  /** Over the capture rate; counted as rejected. */
  | { readonly state: 'limited'; readonly retryAfterSeconds: number }

/**
 * Result of one run of the statement: the outcomes of its captures, and endpoints that need work afterwards.
 */
export interface BatchResult {
  /** In the order of the captures. */
  readonly outcomes: readonly CaptureOutcome[]
  /**
   * Endpoints that hold more requests than their plan allows. Rows that another process committed while this statement
   * waited for its lock were invisible to it, and one run evicts a bounded number. Another run, even without captures,
   * evicts more of them.
   */
  readonly overfull: readonly string[]
  /** Endpoints that rejected captures, without an alert about it in the last `REJECTION_ALERT_SECONDS`. */
  readonly rejecting: readonly string[]
  /** Endpoints that hold as many requests as their plan allows. */
  readonly full: readonly string[]
}

/** Time limit of a statement, which PostgreSQL enforces. */
export const STATEMENT_SECONDS_MAX = 20

/**
 * Time limit of a wait for one lock, in milliseconds: longer than any transaction of ours holds the counters of an
 * endpoint, and short enough for the captures of others that wait behind.
 */
const LOCK_MS_MAX = 10_000

/** A commit must be durable, even if the server's default is not. */
const SESSION_SETTINGS = `
  ${PLAN_ONCE_ON_CONNECTION}
  set statement_timeout = '${STATEMENT_SECONDS_MAX}s';
  set lock_timeout = ${LOCK_MS_MAX};
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`

/** Applies the session settings that {@link storeCaptures} needs to a connection. */
export async function prepareConnection(client: pg.ClientBase): Promise<void> {
  await client.query(SESSION_SETTINGS)
}

interface BatchFacts {
  /** Every endpoint of the captures, and any other that may hold too many requests. */
  readonly endpointIds: readonly string[]
  readonly plans: Plans
  /** See `aheadMs` of api/services.ts. */
  readonly aheadMs: number
}

/**
 * Stores a batch in one round trip. It is durable once its transaction is committed; outside of one, when this returns.
 *
 * @param db on one connection, prepared by {@link prepareConnection}
 */
export async function storeCaptures(
  db: Db,
  captures: readonly NewCapture[],
  of: BatchFacts,
): Promise<BatchResult> {
  const outcomes: CaptureOutcome[] = new Array(captures.length)
  const overfull: string[] = []
  const rejecting: string[] = []
  const full: string[] = []
  for (const row of await runCapture(db, captures, of)) {
    if (row.place !== null) outcomes[row.place - 1] = outcomeOf(row)
    if (row.endpointId === null) continue
    if (row.overfull) overfull.push(row.endpointId)
    if (row.rejecting) rejecting.push(row.endpointId)
    if (row.isFull) full.push(row.endpointId)
    if (row.evicted > 0) evictedRequests.inc({ limit: 'requests' }, row.evicted)
  }
  return { outcomes, overfull, rejecting, full }
}

type ResultRow = RowsOf<typeof CAPTURE>

async function runCapture(
  db: Db,
  captures: readonly NewCapture[],
  { endpointIds, plans, aheadMs }: BatchFacts,
): Promise<readonly ResultRow[]> {
  const limits = Object.values(plans)
  const common = () => ({
    endpointIds: encodeArray(UUID, endpointIds, (id) => id),
    aheadMs,
    plans: limits.map((plan) => plan.key),
    ratesPerMinute: limits.map((plan) => plan.limits.captureRatePerMinute),
    storedMax: limits.map((plan) => plan.limits.storedRequestsMax),
    bytesPerMinute: limits.map((plan) => plan.limits.captureBytesPerMinute),
    revisions: encodeArray(INT4, captures, ({ revision }) => revision),
    bodyBytes: encodeArray(INT4, captures, ({ row }) => row.body.length),
    ...Object.fromEntries(REQUEST_COLUMNS.map(({ name, array }) => [columnParameter(name), array(captures)])),
    ...criteriaOf(captures),
  })
  if (captures.every(({ claim }) => claim === null))
    return await run(
      db,
      CAPTURE,
      beforeSending(() => CAPTURE_PARAMETERS.values(common())),
    )
  return await run(
    db,
    CAPTURE_ONCE,
    beforeSending(() => CAPTURE_ONCE_PARAMETERS.values({ ...common(), ...claimsOf(captures) })),
  )
}

function outcomeOf({ state, id, retryAfterSeconds, duplicateOf }: ResultRow): CaptureOutcome {
  if (state === 'stored') return { state, id, duplicateOf }
  if (state === 'discarded') return { state, duplicateOf: duplicateOf ?? 0 }
  if (state === 'limited') {
    // Between 1 and a whole window, even if the clocks of two gateways differ.
    const seconds = Math.min(WINDOW_SECONDS, Math.max(1, retryAfterSeconds ?? 1))
    return { state, retryAfterSeconds: seconds }
  }
  return { state: state === 'stale' ? state : 'gone' }
}

function claimsOf(captures: readonly NewCapture[]) {
  return {
    claimKeys: encodeArray(UUID, captures, ({ claim }) => claim?.key ?? null),
    claimSeconds: encodeArray(INT4, captures, ({ claim }) => claim?.windowSeconds ?? null),
    claimEnds: encodeArray(TEXT, captures, ({ claim }) => claim?.then ?? null),
  }
}

/** Encodes the number of each capture's set of criteria, and the members of the sets. */
function criteriaOf(captures: readonly NewCapture[]) {
  // Finds a set by the list object that captures share, else by its content.
  const numbers = new Map<readonly string[] | string, number>()
  const members: { readonly number: number; readonly criteriaId: string }[] = []
  const numberOf = ({ criteriaIds }: NewCapture): number | null => {
    if (criteriaIds.length === 0) return null
    const shared = numbers.get(criteriaIds)
    if (shared !== undefined) return shared
    const key = criteriaIds.join()
    const known = numbers.get(key)
    const number = known ?? numbers.size
    numbers.set(criteriaIds, number)
    if (known !== undefined) return known
    numbers.set(key, number)
    for (const criteriaId of criteriaIds) members.push({ number, criteriaId })
    return number
  }
  const ofCaptures = captures.map(numberOf)
  return {
    criteriaOfCaptures: encodeArray(INT4, ofCaptures, (number) => number),
    criteriaSets: encodeArray(INT4, members, ({ number }) => number),
    criteriaIds: encodeArray(UUID, members, ({ criteriaId }) => criteriaId),
  }
}
