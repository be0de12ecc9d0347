import { DomainError } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import { updateCounters } from '../endpoints/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { run, statement, type Trx } from '../platform/db/index.ts'
import { forgetPaged, lockCounters, storageBytesOf, TRACE_STORAGE_BYTES } from '../requests/index.ts'
import { getWorkspace } from '../workspaces/index.ts'
import { BATCH_ROWS, type SweepServices, sweepTransaction } from './endpointsToSweep.ts'
import { purgeClaims } from './eventClaims.ts'
import { removeDeliveryRecords, removeRecords, removeRequests } from './removal.ts'

/** Target of an operator's purge: a request, all captures of an endpoint, or all captures of a workspace. */
export interface PurgeTarget {
  readonly workspace: string
  readonly endpoint?: string | undefined
  /** Only with `endpoint`. */
  readonly request?: number | undefined
}

const COUNT_PURGED = statement(
  'count requests to purge',
  `select count(*) from requests
  where endpoint_id = any($1::uuid[])
    and ($2::bigint is null or id = $2)`,
  { isPrepared: false },
)

/**
 * Counts the captured requests that a purge would delete permanently: stored, binned and hidden ones. Changes nothing;
 * the `creel purge` command uses it to ask for confirmation.
 *
 * @throws DomainError `not_found` for an unknown workspace, endpoint or request
 */
export async function countPurge(services: SweepServices, target: PurgeTarget): Promise<number> {
  const endpointIds = await findEndpoints(services, target)
  const rows = await run(services.db, COUNT_PURGED, [endpointIds, target.request ?? null])
  const count = rows[0]?.count ?? 0
  if (target.request !== undefined && count === 0) throw noSuch('request', String(target.request))
  return count
}

const LAST_ID = statement('last id of requests', `select last_value as last_id from request_ids`, {
  isPrepared: false,
})

/**
 * Permanently deletes captured requests in every state, with their deliveries, attempts, records and claims of events. Endpoints, actions
 * and rules are kept, and so are requests that arrive meanwhile. Works in small batches; after an interruption, a
 * second call deletes the rest.
 *
 * @returns the number of deleted requests
 */
export async function purge(
  services: SweepServices & Pick<Services, 'actor'>,
  target: PurgeTarget,
): Promise<number> {
  await countPurge(services, target)
  const endpointIds = await findEndpoints(services, target)
  const rows = await run(services.db, LAST_ID, [])
  const upToId = rows[0]?.lastId ?? 0
  let purgedCount = 0
  for (const endpointId of endpointIds) {
    for (;;) {
      const ids = await nextIds(services, { endpointId, requestId: target.request, upToId })
      if (ids.length === 0) break
      purgedCount += await sweepTransaction(services.db, (trx) =>
        eraseRequests(services, trx, endpointId, ids),
      )
    }
    if (target.request === undefined) {
      await purgeRecords(services, endpointId, upToId)
      await purgeClaims(services, endpointId, new AbortController().signal)
    }
  }
  const { id: workspaceId } = await getWorkspace(services.db, target.workspace)
  const { endpoint, request } = target
  await services.db.transaction().execute((trx) =>
    recordChange(trx, services, {
      action: 'retention.purge',
      workspaceId,
      subject: { type: endpoint === undefined ? 'workspace' : 'endpoint', id: endpoint ?? workspaceId },
      endpointId: endpoint ?? null,
      before: {},
      after: { purgedCount, request: request ?? null },
    }),
  )
  return purgedCount
}

async function nextIds(
  { db }: SweepServices,
  of: { endpointId: string; requestId: number | undefined; upToId: number },
): Promise<number[]> {
  let query = db.selectFrom('requests').where('endpointId', '=', of.endpointId).where('id', '<=', of.upToId)
  if (of.requestId !== undefined) query = query.where('id', '=', of.requestId)
  const rows = await query.select('id').orderBy('id').limit(BATCH_ROWS).execute()
  return rows.map((row) => row.id)
}

async function findEndpoints(
  { db }: SweepServices,
  { workspace, endpoint }: PurgeTarget,
): Promise<readonly string[]> {
  const { id: workspaceId } = await getWorkspace(db, workspace)
  const endpoints = await db
    .selectFrom('endpoints')
    .where('workspaceId', '=', workspaceId)
    .where('deletedAt', 'is', null)
    .select('id')
    .execute()
  const endpointIds = endpoints.map(({ id }) => id)
  if (endpoint === undefined) return endpointIds
  const wanted = endpointIds.filter((id) => id === endpoint.toLowerCase())
  if (wanted.length === 0) throw noSuch('endpoint', endpoint)
  return wanted
}

/** Deletes attempts of requests that were evicted earlier, because a purge also deletes all facts about captures. */
async function purgeRecords(services: SweepServices, endpointId: string, upToId: number): Promise<void> {
  for (;;) {
    const rows = await services.db
      .selectFrom('deliveryAttempts')
      .where('endpointId', '=', endpointId)
      .where('requestId', '<=', upToId)
      .select('requestId')
      .limit(BATCH_ROWS)
      .execute()
    if (rows.length === 0) return
    const requestIds = [...new Set(rows.map((row) => row.requestId))]
    await sweepTransaction(services.db, (trx) => removeDeliveryRecords(services, trx, endpointId, requestIds))
  }
}

function noSuch(noun: string, reference: string): DomainError {
  return new DomainError('not_found', `There is no ${noun} "${reference}" in this workspace.`)
}

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
 */
export async function reduceRequests(trx: Trx, endpointId: string, ids: readonly number[]): Promise<void> {
  await lockCounters(trx, endpointId)
  await run(trx, REDUCE, [endpointId, ids, JSON.stringify({ paths: ALL_PATHS, fault: null })])
  await removeRecords(trx, endpointId, { requestIds: ids })
  await run(trx, UNNAME_KEYS, [endpointId, ids])
  await forgetPaged(trx, endpointId, ids)
  await announceEndpointChange(trx, endpointId)
}
