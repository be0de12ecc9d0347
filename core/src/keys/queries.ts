import { type Selectable, sql } from 'kysely'
import { type ApiKeysTable, countOf, type Db, type Trx } from '../platform/db/index.ts'

export type KeyRow = Omit<Selectable<ApiKeysTable>, 'sha256' | 'tokenExpiresAt'>

const COLUMNS = [
  'id',
  'workspaceId',
  'name',
  'prefix',
  'scope',
  'endpointId',
  'allowedNetworks',
  'createdAt',
  'expiresAt',
  'revokedAt',
  'lastUsedAt',
  'replacedById',
  'kind',
  'clientId',
] as const

const keysOf = (db: Db, workspaceId: string) =>
  db.selectFrom('apiKeys').select(COLUMNS).where('workspaceId', '=', workspaceId)

/** Every key of the workspace, newest first, including revoked and expired ones. */
export async function listKeys(db: Db, workspaceId: string): Promise<KeyRow[]> {
  return await keysOf(db, workspaceId).orderBy('createdAt', 'desc').orderBy('id').execute()
}

/** The key; undefined if it is absent or another workspace's. */
export async function findKey(db: Db, workspaceId: string, id: string): Promise<KeyRow | undefined> {
  return await keysOf(db, workspaceId).where('id', '=', id).executeTakeFirst()
}

/** {@link findKey}, locked until the transaction ends. A session that begins with it does not wait. */
export async function lockKey(trx: Trx, workspaceId: string, id: string): Promise<KeyRow | undefined> {
  return await keysOf(trx, workspaceId).where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
}

/** Whether a key was revoked or has expired. */
export const hasEnded = ({ revokedAt, expiresAt }: Pick<KeyRow, 'revokedAt' | 'expiresAt'>, now: Date) =>
  revokedAt !== null || (expiresAt !== null && expiresAt <= now)

/**
 * SQL condition for keys that are valid at `now`: neither revoked nor expired, nor of an endpoint that is deleted and
 * waits to be purged. `k` is the table.
 */
export const isLive = (now: string) =>
  `k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now}::timestamptz)
  and (k.endpoint_id is null or exists (select from endpoints e where e.id = k.endpoint_id and e.deleted_at is null))`

/**
 * SQL condition for keys that can be presented at `now`: live, and for an agent's key with a token that has not ended.
 * `k` is the table.
 */
export const isPresentable = (now: string) =>
  `${isLive(now)} and (k.token_expires_at is null or k.token_expires_at > ${now}::timestamptz)`

const instant = (at: Date) => `'${at.toISOString()}'`

/** Keys that can be presented at `now`. */
export const presentableKeys = (db: Db, now: Date) =>
  db.selectFrom('apiKeys as k').where(sql.raw<boolean>(isPresentable(instant(now))))

/** Keys that are live at `now`. */
export const liveKeys = (db: Db, now: Date) =>
  db.selectFrom('apiKeys as k').where(sql.raw<boolean>(isLive(instant(now))))

const liveKeysOf = (db: Db, workspaceId: string, now: Date) =>
  liveKeys(db, now).where('k.workspaceId', '=', workspaceId)

/** The key, if it is live at `now`. */
export async function findLiveKey(
  db: Db,
  { workspaceId, id, now }: { readonly workspaceId: string; readonly id: string; readonly now: Date },
): Promise<KeyRow | undefined> {
  return await liveKeysOf(db, workspaceId, now).where('k.id', '=', id).select(COLUMNS).executeTakeFirst()
}

/** Number of keys that count against `apiKeysMax`: neither ended nor replaced ones. */
export async function countActiveKeys(db: Db, workspaceId: string, now: Date): Promise<number> {
  return await countOf(liveKeysOf(db, workspaceId, now).where('replacedById', 'is', null))
}

/** Number of replaced keys that go on for their overlap. */
export async function countReplacedKeys(db: Db, workspaceId: string, now: Date): Promise<number> {
  return await countOf(liveKeysOf(db, workspaceId, now).where('replacedById', 'is not', null))
}

/** Ended keys of a workspace that are kept, the last ones. */
const ENDED_KEPT = 1_000
/** Keys that one call deletes, the last ones of those that are not kept. The following calls delete the rest. */
const DELETED_AT_ONCE = 500
/** Rotations by which a subscription finds its key from its first one. */
const ROTATIONS_MAX = 1_000

/**
 * Deletes keys that ended before the last {@link ENDED_KEPT} of their workspace, with their sessions and grants.
 * The id of an event subscription follows from the first key of a rotation, so the keys from that one on stay while there are any.
 */
export async function deleteFormerKeys(trx: Trx, workspaceId: string, now: Date): Promise<void> {
  await sql`
    with recursive rotated as (
      select principal_id as id, 0 as depth from event_subscriptions where workspace_id = ${workspaceId}
      union
      select k.replaced_by_id, r.depth + 1 from rotated r join api_keys k on k.id = r.id
      where k.replaced_by_id is not null and r.depth < ${ROTATIONS_MAX}
    )
    delete from api_keys where id in (
      select k.id from api_keys k
      where k.workspace_id = ${workspaceId} and least(k.revoked_at, k.expires_at) <= ${now}
        and k.id not in (select id from rotated)
      order by least(k.revoked_at, k.expires_at) desc, k.id offset ${ENDED_KEPT} limit ${DELETED_AT_ONCE})`.execute(
    trx,
  )
}

/** The columns of a new key; only its digest is stored. */
export type NewKeyRow = Omit<KeyRow, 'revokedAt' | 'lastUsedAt' | 'replacedById'> & {
  readonly sha256: Buffer
}

/** Adds one key; the plan's limit is not checked here. */
export async function insertKey(trx: Trx, row: NewKeyRow): Promise<void> {
  await trx.insertInto('apiKeys').values(row).execute()
}

/** Changeable columns of a key. */
export type KeyChange = Partial<
  Pick<KeyRow, 'name' | 'expiresAt' | 'allowedNetworks' | 'revokedAt' | 'replacedById'>
>

/** Changes one key. A no-op when no key has the id. */
export async function updateKey(trx: Trx, keyId: string, change: KeyChange): Promise<void> {
  if (Object.keys(change).length === 0) return
  await trx.updateTable('apiKeys').set(change).where('id', '=', keyId).execute()
}

/** Makes a token the only one of an agent's key: the former one ends at once. */
export async function replaceToken(
  trx: Trx,
  keyId: string,
  token: {
    readonly sha256: Buffer
    readonly prefix: string
    readonly tokenExpiresAt: Date
    /** End of the key, unless a token is asked for before. */
    readonly expiresAt: Date
  },
): Promise<void> {
  await trx.updateTable('apiKeys').set(token).where('id', '=', keyId).execute()
}

/** Id of an agent's key by the digest of its token, whether it has ended or not; undefined when there is none. */
export async function findTokenKey(
  db: Db,
  sha256: Buffer,
): Promise<
  { readonly id: string; readonly workspaceId: string; readonly clientId: string | null } | undefined
> {
  return await db
    .selectFrom('apiKeys')
    .select(['id', 'workspaceId', 'clientId'])
    .where('sha256', '=', sha256)
    .where('kind', '=', 'oauth')
    .executeTakeFirst()
}

/** Deletes agents' keys that ended before they had a token: their consent was never used. */
export async function deleteUnusedTokenKeys(trx: Trx, workspaceId: string, now: Date): Promise<void> {
  await trx
    .deleteFrom('apiKeys')
    .where('workspaceId', '=', workspaceId)
    .where('kind', '=', 'oauth')
    .where('tokenExpiresAt', 'is', null)
    .where('expiresAt', '<=', now)
    .execute()
}
