import type { Services } from '../api/services.ts'
import { updateCounters } from '../endpoints/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { run, statement, type Trx } from '../platform/db/index.ts'
import { forgetPaged, lockCounters, storageBytesOf, TRACE_STORAGE_BYTES } from '../requests/index.ts'
import { removeAttempts, removeDeliveryRecords, removeRecords, removeRequests } from './removal.ts'

/**
 * Deletes requests of an endpoint in every state, with their deliveries, attempts and records.
 *
 * @returns the number of deleted requests
 */
export async function eraseRequests(
  services: Pick<Services, 'enqueue' | 'clock'>,
  trx: Trx,
  endpointId: string,
  ids: readonly number[],
): Promise<number> {
  await lockCounters(trx, endpointId)
  let erasedCount = 0
  for (const state of ['stored', 'binned', 'hidden'] as const) {
    erasedCount += (await removeRequests(trx, { endpointId, ids, state })).length
  }
  await removeDeliveryRecords(services, trx, endpointId, ids)
  await forgetPaged(trx, endpointId, ids)
  await announceEndpointChange(trx, endpointId)
  return erasedCount
}

/** Reduces requests `$2` of the endpoint `$1` to traces, with `$3` as their redaction. */
const REDUCE = statement(
  'reduce requests to traces',
  `with before as (
    select r.id, r.deleted_at is null and r.hidden_at is null as is_counted, octet_length(r.body) as bytes,
      ${storageBytesOf('r')} - ${TRACE_STORAGE_BYTES} as storage_bytes
    from requests r where r.endpoint_id = $1::uuid and r.id = any($2::bigint[]) for update
  ), reduced as (
    update requests r set path = '', query_string = null, header_names = '', header_values = '', content_type = null,
      ip = null, user_agent = null, label = null, event_id = null, body = '', body_preview = null, decoded_text = null, body_truncated = true,
      body_is_binary = false, verdict_note = null, sealed_with = null, sealed = null, redaction = $3::text, column_values = null, note = null, storage_bytes = ${TRACE_STORAGE_BYTES}
    from before b where r.endpoint_id = $1::uuid and r.id = b.id
    returning r.id
  ), summed as (
    select coalesce(sum(bytes), 0) as bytes, coalesce(sum(storage_bytes), 0) as storage_bytes
    from before where is_counted
  ), counted as (
    ${updateCounters({ unstored: { requests: '0', bytes: 'bytes', storageBytes: 'summed.storage_bytes' } })}
    from summed where c.endpoint_id = $1::uuid
  )
  select id from reduced`,
  { isPrepared: false },
)

/**
 * Replaces the order keys of requests, which repeat a value of them. A key stays a key: a trigger releases the delivery
 * behind one that has a key.
 */
const UNNAME_KEYS = statement(
  'replace order keys of reduced requests',
  `update deliveries set order_key = gen_random_uuid()::text
  where endpoint_id = $1::uuid and request_id = any($2::bigint[]) and order_key is not null`,
  { isPrepared: false },
)

/** Data that is taken out of a request that is reduced to a trace. */
const ALL_PATHS = ['body', 'query', 'headers', 'path', 'ip']

/**
 * Reduces requests of an endpoint to traces: method, time, size and verdict are left. Their attempts lose their
 * records.
 *
 * @returns the number of reduced requests
 */
export async function reduceRequests(trx: Trx, endpointId: string, ids: readonly number[]): Promise<number> {
  await lockCounters(trx, endpointId)
  const rows = await run(trx, REDUCE, [endpointId, ids, JSON.stringify({ paths: ALL_PATHS, fault: null })])
  await removeRecords(trx, endpointId, { requestIds: ids })
  await run(trx, UNNAME_KEYS, [endpointId, ids])
  await forgetPaged(trx, endpointId, ids)
  await announceEndpointChange(trx, endpointId)
  return rows.length
}

/** Deletes attempts of an endpoint, with their records. */
export async function eraseAttempts(
  trx: Trx,
  endpointId: string,
  attemptIds: readonly number[],
): Promise<void> {
  await removeAttempts(trx, endpointId, { attemptIds })
}
