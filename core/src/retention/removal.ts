import { sql } from 'kysely'
import type { Services } from '../api/services.ts'
import { addAttemptBytes, leaveFlows } from '../deliveries/index.ts'
import { updateCounters } from '../endpoints/index.ts'
import { run, statement, type Trx } from '../platform/db/index.ts'
import { storageBytesOf } from '../requests/index.ts'

/** Requests of an endpoint to delete. */
export interface Removal {
  readonly endpointId: string
  readonly ids: readonly number[]
  /** Only those that are still in this state: `stored`, `binned`, or `hidden` (waiting for their deliveries to end). */
  readonly state: 'stored' | 'binned' | 'hidden'
}

type State = Removal['state']

const IS_IN: Readonly<Record<State, string>> = {
  stored: 'r.deleted_at is null and r.hidden_at is null',
  binned: 'r.deleted_at is not null and r.hidden_at is null',
  hidden: 'r.hidden_at is not null',
}

/** Change of the counters for requests that leave a state. Hidden requests are not counted. */
const CHANGE: Readonly<Record<State, string | null>> = {
  stored: updateCounters({
    unstored: { requests: 'removed_count', bytes: 'bytes', storageBytes: 'counted_bytes' },
  }),
  binned: updateCounters({ unbinned: 'removed_count' }),
  hidden: null,
}

/**
 * SQL that takes requests `$2` of the endpoint `$1` from a state and keeps the counters equal to the rows.
 *
 * @param takes the start of a statement that deletes or updates `requests r`
 * @param besides a further condition
 */
const removalText = (takes: string, state: State, besides = '') =>
  `with removed as (
    ${takes} where r.endpoint_id = $1 and r.id = any($2::bigint[]) and ${IS_IN[state]} ${besides}
    returning r.id, octet_length(r.body) as bytes, ${storageBytesOf('r')} as counted_bytes
  ), summed as (
    select count(*)::int as removed_count, coalesce(sum(bytes), 0) as bytes, coalesce(sum(counted_bytes), 0) as counted_bytes
    from removed
  ), counted as (
    ${CHANGE[state] === null ? 'select' : `${CHANGE[state]} from summed where c.endpoint_id = $1 and removed_count > 0`}
  )
  select id from removed`

const removal = <Of extends State>(state: Of) =>
  statement(`remove ${state} requests`, removalText('delete from requests r', state), { isPrepared: false })

const REMOVE = { stored: removal('stored'), binned: removal('binned'), hidden: removal('hidden') }

/**
 * Deletes requests and keeps the counters equal to the rows. The caller locks the counters. A request that changed its
 * state meanwhile is skipped.
 *
 * @returns the ids of the deleted requests
 */
export async function removeRequests(trx: Trx, { endpointId, ids, state }: Removal): Promise<number[]> {
  const rows = await run(trx, REMOVE[state], [endpointId, ids])
  return rows.map(({ id }) => id)
}

const HAS_DELIVERIES = `and exists (
  select from deliveries d where d.endpoint_id = r.endpoint_id and d.request_id = r.id and d.finished_at is null)`

/** `$3` is now. */
const hiding = <Of extends State>(state: Of) =>
  statement(
    `hide ${state} requests`,
    removalText('update requests r set hidden_at = $3', state, HAS_DELIVERIES),
    { isPrepared: false },
  )

const HIDE = { stored: hiding('stored'), binned: hiding('binned') }

/**
 * Hides binned or stored requests with deliveries due. They leave the bin or the lists now, and are deleted when the
 * deliveries have ended.
 *
 * @returns the ids of the hidden requests
 */
export async function hideUndelivered(
  trx: Trx,
  { endpointId, ids, state, now }: Removal & { readonly state: 'stored' | 'binned'; readonly now: Date },
): Promise<number[]> {
  const rows = await run(trx, HIDE[state], [endpointId, ids, now])
  return rows.map(({ id }) => id)
}

const REMOVE_DELIVERIES = statement(
  'remove deliveries of requests',
  `delete from deliveries where endpoint_id = $1 and request_id = any($2::bigint[])
  returning action_id, workspace_id, flow_state`,
  { isPrepared: false },
)

/**
 * Deletes every delivery of deleted requests, including dead letters, because there is nothing left to send. The keys
 * that they hold are free.
 *
 * @returns the number of deleted deliveries
 */
export async function removeDeliveries(
  services: Pick<Services, 'enqueue' | 'clock'>,
  trx: Trx,
  endpointId: string,
  requestIds: readonly number[],
): Promise<number> {
  const rows = await run(trx, REMOVE_DELIVERIES, [endpointId, requestIds])
  await leaveFlows(services, trx, rows)
  return rows.length
}

const LOCK_PENDING = statement(
  'lock pending attempts of requests',
  // By the index of requests, as that of pending attempts has all that have ended since the last vacuum.
  `select from delivery_attempts
  where endpoint_id = $1 and request_id = any($2::bigint[]) and coalesce(state, '') = 'Pending' order by id for update`,
  { isPrepared: false },
)

/**
 * Waits for attempts of requests that are being recorded, and keeps others from it until the transaction ends. It comes
 * before the deliveries, as in the transaction of a record.
 */
export async function lockPending(
  trx: Trx,
  endpointId: string,
  requestIds: readonly number[],
): Promise<void> {
  if (requestIds.length > 0) await run(trx, LOCK_PENDING, [endpointId, requestIds])
}

/** Deletes the deliveries, attempts and records of requests that a user deleted. */
export async function removeDeliveryRecords(
  services: Pick<Services, 'enqueue' | 'clock'>,
  trx: Trx,
  endpointId: string,
  requestIds: readonly number[],
): Promise<void> {
  await lockPending(trx, endpointId, requestIds)
  await removeDeliveries(services, trx, endpointId, requestIds)
  await removeAttempts(trx, endpointId, { requestIds })
}

/** Attempts of an endpoint: all attempts of some requests, or single ones. */
type AttemptsOf = { readonly requestIds: readonly number[] } | { readonly attemptIds: readonly number[] }

/** Deletes attempts, then their records: one that is just being recorded has its record when its row is free. */
export async function removeAttempts(trx: Trx, endpointId: string, of: AttemptsOf): Promise<void> {
  await removeAttemptRows(trx, endpointId, 'delivery_attempts', of)
  await removeRecords(trx, endpointId, of)
}

/** Deletes the records of attempts: requests and responses. The attempts stay in the lists. */
export async function removeRecords(trx: Trx, endpointId: string, of: AttemptsOf): Promise<void> {
  await removeAttemptRows(trx, endpointId, 'attempt_details', of)
}

const ATTEMPT_TABLES = {
  attempt_details: { id: 'attempt_id', deletes: sql`delete from attempt_details` },
  delivery_attempts: { id: 'id', deletes: sql`delete from delivery_attempts` },
} as const

/** Deletes rows and subtracts their bytes from the endpoint's attempt bytes. */
async function removeAttemptRows(
  trx: Trx,
  endpointId: string,
  table: keyof typeof ATTEMPT_TABLES,
  of: AttemptsOf,
): Promise<void> {
  const { id, deletes } = ATTEMPT_TABLES[table]
  const [column, ids] = 'requestIds' in of ? ['request_id', of.requestIds] : [id, of.attemptIds]
  if (ids.length === 0) return
  await sql`
    with removed as (
      ${deletes}
      where endpoint_id = ${endpointId} and ${sql.ref(column)} = any(${ids}::bigint[])
      returning endpoint_id, storage_bytes
    )
    ${TAKE_REMOVED}`.execute(trx)
}

const TAKE_REMOVED = sql.raw(
  addAttemptBytes(
    'select endpoint_id, -sum(storage_bytes)::bigint from removed group by endpoint_id having sum(storage_bytes) <> 0',
  ),
)
