import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import { DomainError, notFound } from '../api/errors.ts'
import { requireRoom } from '../api/planGates.ts'
import { requireStays } from '../api/seal.ts'
import { changeOf, recordChange } from '../audit/index.ts'
import { canonicalJson, parseJson } from '../engine/json/index.ts'
import { type EventArguments, filterOf, findType, newestPosition, readPage } from '../events/index.ts'
import { countOf, type Db, run, statement, type Trx } from '../platform/db/index.ts'
import { sha256Of } from '../platform/secrets/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'
import { type Callback, openCallback, sealCallback } from './callback.ts'
import { checkCallback } from './check.ts'
import { PREVIOUS_SECRET_MS, TTL_MS } from './declarations.ts'
import {
  deleteSubscription,
  findSubscription,
  hasCallback,
  lockSubscription,
  type SubscriptionRow,
} from './queries.ts'
import type { CreateInput, Subscribed } from './schema.ts'
import { auditedView, statusView } from './view.ts'

/** Rotations that are followed from a key. */
const ROTATIONS_MAX = 1000

const ROOT = statement(
  'root of key',
  `with recursive chain as (
    select id, 0 as depth from api_keys where id = $1::uuid
    union all
    select k.id, c.depth + 1 from chain c join api_keys k on k.replaced_by_id = c.id
    where k.workspace_id = $2::uuid and c.depth < ${ROTATIONS_MAX}
  )
  select id from chain order by depth desc limit 1`,
)

/** The key from which a key came by rotation: itself, if it was never rotated. */
async function rootOfKey(db: Db, workspaceId: string, keyId: string): Promise<string> {
  const [row] = await run(db, ROOT, [keyId, workspaceId])
  return row?.id ?? keyId
}

/** Arguments as canonical JSON (RFC 8785); left out ones are `{}`. */
function canonicalArguments(given: EventArguments | null | undefined): string {
  const parsed = parseJson(JSON.stringify(given ?? {}))
  return parsed === undefined ? '{}' : canonicalJson(parsed.value)
}

/** Parts that make a subscription this one and no other. */
interface Identity {
  readonly principalId: string
  readonly url: string
  readonly name: string
  /** Canonical JSON. */
  readonly arguments: string
}

/** Id of a subscription: a UUID of version 8, made from its parts. */
export function subscriptionId({ principalId, url, name, arguments: given }: Identity): string {
  const digest = sha256Of(JSON.stringify([principalId, url, name, given]))
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x80
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80
  const hex = digest.toString('hex').slice(0, 32)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/**
 * Subscribes a callback, or refreshes the subscription with the same principal, URL, name and arguments. The callback
 * is checked before its first event. A refresh never moves the position.
 *
 * @throws DomainError `forbidden` for a caller without a key; `not_found`, `validation_failed`, `callback_failed`,
 *   `limit_reached`, `feature_not_in_plan`, `rate_limited`
 */
export async function subscribe(ctx: Context, input: CreateInput): Promise<z.input<typeof Subscribed>> {
  const { key, workspace, db, clock } = ctx
  const type = await findType(ctx, input.name)
  const filter = filterOf(type, input.arguments)
  const { url, secret } = input.delivery
  const identity = await identityOf(ctx, input)
  const { principalId, arguments: given } = identity
  const id = subscriptionId(identity)
  // By the digest, subscriptions of one callback are found without decrypting the address.
  const callbackSha256 = sha256Of(url)
  const viewer = { workspaceId: workspace.id, onlyEndpointId: null, now: clock.now() }
  if ((await findSubscription(db, viewer, id)) === undefined) {
    await requireMore(ctx, db)
    if (!(await hasCallback(db, { ...identity, callbackSha256 }, clock.now()))) {
      await checkCallback(ctx, id, { url, secret, previous: null })
    }
  }
  const { endpointId } = type.source
  const start = await startOf(ctx, input, { endpointId, filter })
  const now = clock.now()
  const expiresAt = new Date(now.getTime() + grantedMs(input.ttlMs))
  const members = {
    keyId: key?.id ?? principalId,
    address: ctx.address,
    declaresExtension: input.controls ?? false,
    refreshedAt: now,
    expiresAt,
  }
  const known = await db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, workspace.id)
    const row = await lockSubscription(trx, id)
    if (row !== undefined && row.expiresAt > now) {
      await refresh(ctx, trx, row, secret, members)
      await requireStays(ctx, trx, workspace.id)
      return row
    }
    if (row !== undefined) await deleteSubscription(trx, id)
    await requireMore(ctx, trx)
    const added = await trx
      .insertInto('eventSubscriptions')
      .values({
        id,
        workspaceId: workspace.id,
        endpointId,
        principalId,
        name: input.name,
        arguments: given,
        host: URL.parse(url)?.host ?? '',
        callbackSha256,
        callback: sealCallback(ctx.secrets, { url, secret, previous: null }, workspace.id),
        readPosition: start.lastId,
        createdAt: now,
        ...members,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    const change = changeOf(['subscription', 'subscriptions.create'], null, added, auditedView)
    await recordChange(trx, ctx, change)
    return undefined
  })
  ctx.endpointChanges.announce([endpointId])
  const row = await findSubscription(db, viewer, id)
  if (row === undefined) throw notFound('subscription')
  return {
    id,
    refreshBefore: expiresAt,
    cursor: String(row.watermark),
    truncated: known === undefined ? start.isTruncated : known.isTruncated,
    deliveryStatus: known === undefined ? null : statusView(row, now),
  }
}

/**
 * The parts that identify a subscription of the caller.
 *
 * @throws DomainError `forbidden` for a caller without a key
 */
export async function identityOf(
  { db, key, workspace }: Context,
  input: Pick<CreateInput, 'name' | 'arguments'> & { readonly delivery: { readonly url: string } },
): Promise<Identity> {
  if (key === null) throw new DomainError('forbidden', 'A subscription belongs to an API key: call with one.')
  const principalId = await rootOfKey(db, workspace.id, key.id)
  const { name, delivery } = input
  return { principalId, url: delivery.url, name, arguments: canonicalArguments(input.arguments) }
}

async function requireMore({ plan, workspace, clock }: Context, db: Context['db'] | Trx): Promise<void> {
  const ofWorkspace = db.selectFrom('eventSubscriptions').where('workspaceId', '=', workspace.id)
  const count = await countOf(ofWorkspace.where('expiresAt', '>', clock.now()))
  requireRoom(plan, 'eventSubscriptionsMax', count, 'event subscriptions')
}

/** First position of a new subscription: after its cursor, unless what follows was removed, is too old or too much. */
async function startOf(
  { db, clock }: Context,
  { name, cursor, maxAgeMs }: CreateInput,
  { endpointId, filter }: { readonly endpointId: string; readonly filter: ReturnType<typeof filterOf> },
) {
  const newestId = await newestPosition(db, endpointId)
  return await readPage(db, endpointId, {
    name,
    filter,
    fields: [],
    afterId: Math.min(cursor ?? newestId, newestId),
    room: 0,
    notBefore:
      maxAgeMs === null || maxAgeMs === undefined ? null : new Date(clock.now().getTime() - maxAgeMs),
  })
}

function grantedMs(wishMs: number | null | undefined): number {
  if (wishMs === undefined) return TTL_MS.default
  return Math.min(TTL_MS.max, Math.max(TTL_MS.min, wishMs ?? TTL_MS.max))
}

async function refresh(
  ctx: Context,
  trx: Trx,
  row: SubscriptionRow,
  secret: string,
  members: Pick<SubscriptionRow, 'keyId' | 'address' | 'declaresExtension' | 'refreshedAt' | 'expiresAt'>,
): Promise<void> {
  const { secrets, workspace } = ctx
  const old = openCallback(secrets, row.callback, workspace.id)
  const isNew = old.secret !== secret
  const until = members.refreshedAt.getTime() + PREVIOUS_SECRET_MS
  const callback: Callback = isNew ? { url: old.url, secret, previous: { secret: old.secret, until } } : old
  await trx
    .updateTable('eventSubscriptions')
    .set({
      ...members,
      isTruncated: false,
      ...(isNew ? { callback: sealCallback(secrets, callback, workspace.id) } : {}),
    })
    .where('id', '=', row.id)
    .execute()
  if (!isNew) return
  const shown = ({ refreshedAt }: SubscriptionRow) => ({ secretSetAt: refreshedAt })
  const of = ['subscription', 'subscriptions.rotateSecret'] as const
  await recordChange(trx, ctx, changeOf(of, row, { ...row, ...members }, shown))
}
