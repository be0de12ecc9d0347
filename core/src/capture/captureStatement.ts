import type pg from 'pg'
import type { Plans } from '../plans/index.ts'
import { beforeSending, encodeArray, INT4, TEXT, UUID } from '../platform/db/index.ts'
import { evictedRequests } from '../requests/index.ts'
import type { NewCapture } from './captureRow.ts'
import { CAPTURE, CAPTURE_ONCE } from './captureSql.ts'
import { REQUEST_COLUMNS } from './requestColumns.ts'
import { WINDOW_SECONDS } from './window.ts'

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
   * waited for its lock were invisible to it. Another run, even without captures, evicts them.
   */
  readonly overfull: readonly string[]
  /** Endpoints that rejected captures, without an alert about it in the last `REJECTION_ALERT_SECONDS`. */
  readonly rejecting: readonly string[]
  /** Endpoints that hold as many requests as their plan allows. */
  readonly full: readonly string[]
}

type State = CaptureOutcome['state']
type ResultRow =
  | [
      place: number,
      state: State,
      id: number | null,
      retryAfter: number,
      null,
      false,
      false,
      false,
      0,
      duplicateOf?: number | null,
    ]
  | [
      null,
      null,
      null,
      null,
      endpointId: string,
      overfull: boolean,
      rejecting: boolean,
      isFull: boolean,
      evicted: number,
    ]

/** Time limit of a statement, which PostgreSQL enforces. */
export const STATEMENT_SECONDS_MAX = 20

/**
 * Planning takes longer than running, so each statement is planned once. Every row here is found by a key, so plans
 * must use the keys, even if the tables are empty at that moment. A commit must be durable, even if the server's
 * default is not.
 */
const SESSION_SETTINGS = `
  set plan_cache_mode = force_generic_plan;
  set enable_seqscan = off;
  set jit = off;
  set statement_timeout = '${STATEMENT_SECONDS_MAX}s';
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`

/** Applies the session settings that {@link storeCaptures} needs to a connection. */
export async function prepareConnection(client: pg.ClientBase): Promise<void> {
  await client.query(SESSION_SETTINGS)
}

/**
 * Stores a batch in one round trip. It is durable once its transaction is committed; outside of one, when this returns.
 *
 * @param client prepared by {@link prepareConnection}
 * @param endpointIds every endpoint of the captures, and any other that may hold too many requests
 * @param aheadMs see `aheadMs` of api/services.ts
 */
export async function storeCaptures(
  client: pg.ClientBase,
  captures: readonly NewCapture[],
  { endpointIds, plans, aheadMs }: { endpointIds: readonly string[]; plans: Plans; aheadMs: number },
): Promise<BatchResult> {
  const limits = Object.values(plans)
  const areClaimed = captures.some(({ claim }) => claim !== null)
  const { rows } = await client.query<ResultRow>({
    name: areClaimed ? 'capture once' : 'capture',
    text: areClaimed ? CAPTURE_ONCE : CAPTURE,
    rowMode: 'array',
    values: beforeSending(() => [
      encodeArray(UUID, endpointIds, (id) => id),
      aheadMs,
      limits.map((plan) => plan.key),
      limits.map((plan) => plan.limits.captureRatePerMinute),
      limits.map((plan) => plan.limits.storedRequestsMax),
      encodeArray(INT4, captures, ({ revision }) => revision),
      encodeArray(INT4, captures, ({ row }) => row.body.length),
      limits.map((plan) => plan.limits.captureBytesPerMinute),
      ...REQUEST_COLUMNS.map(({ array }) => array(captures)),
      ...criteriaOf(captures),
      ...(areClaimed ? claimsOf(captures) : []),
    ]),
  })
  const outcomes: CaptureOutcome[] = new Array(captures.length)
  const overfull: string[] = []
  const rejecting: string[] = []
  const full: string[] = []
  for (const row of rows) {
    if (row[0] === null) {
      if (row[5]) overfull.push(row[4])
      if (row[6]) rejecting.push(row[4])
      if (row[7]) full.push(row[4])
      if (row[8] > 0) evictedRequests.inc({ limit: 'requests' }, row[8])
    } else {
      outcomes[row[0] - 1] = toOutcome(row[1], row[2], row[3], row[9] ?? null)
    }
  }
  return { outcomes, overfull, rejecting, full }
}

function toOutcome(
  state: State,
  id: number | null,
  retryAfter: number,
  duplicateOf: number | null,
): CaptureOutcome {
  if (state === 'stored') return { state, id, duplicateOf }
  if (state === 'discarded') return { state, duplicateOf: duplicateOf ?? 0 }
  if (state === 'limited') {
    // Between 1 and a whole window, even if the clocks of two gateways differ.
    return { state, retryAfterSeconds: Math.min(WINDOW_SECONDS, Math.max(1, retryAfter)) }
  }
  return { state }
}

/** Encodes the last parameters of {@link CAPTURE_ONCE}. */
function claimsOf(captures: readonly NewCapture[]): Buffer[] {
  return [
    encodeArray(UUID, captures, ({ claim }) => claim?.key ?? null),
    encodeArray(INT4, captures, ({ claim }) => claim?.windowSeconds ?? null),
    encodeArray(TEXT, captures, ({ claim }) => claim?.then ?? null),
  ]
}

/** Encodes the parameters before them: the number of each capture's set of criteria, and the members of the sets. */
function criteriaOf(captures: readonly NewCapture[]): Buffer[] {
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
  return [
    encodeArray(INT4, ofCaptures, (number) => number),
    encodeArray(INT4, members, ({ number }) => number),
    encodeArray(UUID, members, ({ criteriaId }) => criteriaId),
  ]
}
