import { type Insertable, sql, type Updateable } from 'kysely'
import type { Between, TimePlace } from '../api/cursors.ts'
import { type Page, window } from '../api/pagination.ts'
import type { Services } from '../api/services.ts'
import { recordSuspensions } from '../audit/index.ts'
import type { Plan } from '../plans/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import {
  countOf,
  type Db,
  type EndpointsTable,
  type RowsOf,
  run,
  statement,
  type Trx,
} from '../platform/db/index.ts'
import { insertCounters } from './counters.ts'

/**
 * Endpoints of the workspace `$1`. Columns are named, because a prepared statement with `*` fails when a migration adds
 * one.
 */
const SELECT_ENDPOINTS = `
  select e.id, e.workspace_id, e.name, e.is_active, e.suspended_by_plan, e.created_at, e.expires_at, e.deleted_at,
         e.response_status_code, e.response_content_type, e.response_headers, e.response_body,
         e.responses, e.answer_from, (
           select json_object_agg(u.position, u.used)::text from response_uses u
           where u.endpoint_id = e.id and u.run_id = e.responses_run
         ) as responses_used, e.provider, e.event_id_path, e.columns, e.dedupe,
         e.signing_secret, e.signing_secret_set_at, e.handshake_token, e.signature_header, e.signature_algorithm,
         e.signature_encoding, e.signature_prefix, e.reject_unverified, e.allow_rehearsal, e.allow_cors,
         e.allowed_senders,
         e.store_rules, e.drop_headers, e.forward_original, e.original_hours, e.encrypt_bodies,
         exists (select from creel_keys.endpoint_keys k where k.endpoint_id = e.id) as has_data_key,
         coalesce(e.capture_id, e.id) as capture_id, e.previous_capture_id, e.previous_capture_until,
         c.stored_request_count, c.last_request_at,
         first.id as forward_action_id, first.url as forward_url,
         first.signing_secret_set_at as forward_signing_set_at,
         exists (
           select from actions a where a.endpoint_id = e.id and a.is_active and not a.suspended_by_plan
         ) as forwarding_enabled
  from endpoints e
  join endpoint_counters c on c.endpoint_id = e.id
  left join lateral (
    select a.id, a.url, case when a.signing_secret is not null then a.signing_secret_set_at end as signing_secret_set_at
    from actions a
    where a.endpoint_id = e.id and a.kind = 'forward' order by a.position limit 1
  ) first on true
  where e.workspace_id = $1::uuid and e.deleted_at is null`

const FIND_ENDPOINT = statement('find endpoint', `${SELECT_ENDPOINTS} and e.id = $2::uuid`)

/**
 * An endpoint with its counts. `captureId`: its id in its capture URL, its own id until the URL is rotated. The members
 * with `forward` are of its first forward action, for the deprecated members of the API.
 */
export type EndpointRow = RowsOf<typeof FIND_ENDPOINT>

const LIST_ENDPOINTS = statement(
  'list endpoints',
  `${SELECT_ENDPOINTS} and ($4::uuid is null or e.id = $4::uuid)
  and (e.created_at, e.id) < (coalesce($5::timestamptz, 'infinity'), coalesce($6::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
  and (e.created_at, e.id) > (coalesce($7::timestamptz, '-infinity'), coalesce($8::uuid, '00000000-0000-0000-0000-000000000000'))
  order by e.created_at desc, e.id desc limit $2::int offset $3::bigint`,
)

const existing = (db: Db, workspaceId: string) =>
  db.selectFrom('endpoints').where('workspaceId', '=', workspaceId).where('deletedAt', 'is', null)

/** Endpoints of the workspace whose id or name is the given text, without case. */
export async function endpointsCalled(db: Db, workspaceId: string, word: string) {
  return await existing(db, workspaceId)
    .where((or) =>
      or.or([
        or(sql`id::text`, '=', word.toLowerCase()),
        or(sql`lower(name)`, '=', sql`lower(${word}::text)`),
      ]),
    )
    .select(['id', 'name'])
    .orderBy('createdAt')
    .execute()
}

/** The endpoint, unless it is absent, deleted or another workspace's. */
export async function findEndpoint(db: Db, workspaceId: string, id: string) {
  const [endpoint] = await run(db, FIND_ENDPOINT, [workspaceId, id])
  return endpoint
}

/**
 * One page, newest first; served by `endpoints_by_workspace`.
 *
 * @param onlyId restricts the list to this endpoint
 */
export async function listEndpoints(
  db: Db,
  workspaceId: string,
  page: Page & Between<TimePlace>,
  onlyId: string | null,
) {
  const { limit, offset } = window(page)
  const { before, after } = page
  const rows = await run(db, LIST_ENDPOINTS, [
    workspaceId,
    limit,
    offset,
    onlyId,
    before?.at ?? null,
    before?.id ?? null,
    after?.at ?? null,
    after?.id ?? null,
  ])
  const all = existing(db, workspaceId).$if(onlyId !== null, (query) => query.where('id', '=', onlyId))
  return { rows, totalCount: await countOf(all) }
}

/** Number of endpoints that count against `endpointsMax`: all that have not expired. */
export async function countLiveEndpoints(trx: Trx, workspaceId: string, now: Date): Promise<number> {
  return await countOf(
    existing(trx, workspaceId).where((where) =>
      where.or([where('expiresAt', 'is', null), where('expiresAt', '>', now)]),
    ),
  )
}

export async function insertEndpoint(trx: Trx, row: Insertable<EndpointsTable>): Promise<void> {
  await trx.insertInto('endpoints').values(row).execute()
  await insertCounters(trx, row.id)
}

/** The columns of an endpoint for the verification of its captures, locked until the transaction ends. */
export async function lockVerification(trx: Trx, id: string) {
  return await trx
    .selectFrom('endpoints')
    .where('id', '=', id)
    .select([
      'workspaceId',
      'provider',
      'signingSecret',
      'signingSecretSetAt',
      'handshakeToken',
      'signatureHeader',
      'signatureAlgorithm',
      'signatureEncoding',
      'signaturePrefix',
    ])
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** Changes the named columns only. */
export async function updateEndpoint(
  trx: Trx,
  id: string,
  changes: Updateable<EndpointsTable>,
): Promise<void> {
  if (Object.keys(changes).length === 0) return
  await trx.updateTable('endpoints').set(changes).where('id', '=', id).execute()
}

/** Marks the endpoint as deleted, which hides it at once. Its rows are purged in the background. */
export async function markEndpointDeleted(trx: Trx, id: string, now: Date): Promise<void> {
  await trx
    .updateTable('endpoints')
    .set({ deletedAt: now })
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .execute()
}

const FIT = statement(
  'fit endpoints to plan',
  `update endpoints e set suspended_by_plan = ranked.is_over
  from (
    select id, row_number() over (order by created_at, id) > $1 as is_over
    from endpoints
    where workspace_id = $2 and deleted_at is null
      and (expires_at is null or expires_at > $3)
  ) as ranked
  where e.id = ranked.id and e.suspended_by_plan <> ranked.is_over
  returning e.id, e.name, e.id as endpoint_id, e.suspended_by_plan`,
  { isPrepared: false },
)

/**
 * Suspends the endpoints over the plan's limit and lifts the suspension of the others. The oldest stay in use. Expired
 * endpoints do not count. The caller holds the lock of the workspace's row.
 */
export async function applyEndpointLimit(
  services: Pick<Services, 'clock' | 'actor'>,
  trx: Trx,
  { workspaceId, plan }: { workspaceId: string; plan: Plan },
): Promise<void> {
  const rows = await run(trx, FIT, [plan.limits.endpointsMax, workspaceId, services.clock.now()])
  await recordSuspensions(trx, services, workspaceId, 'endpoint', rows)
  for (const { id } of rows) await announceEndpointChange(trx, id)
}
