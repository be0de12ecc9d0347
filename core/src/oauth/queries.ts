import type { Selectable } from 'kysely'
import { isSealedOf, requireUnsealed } from '../api/seal.ts'
import type { Db, OauthGrantsTable, Trx } from '../platform/db/index.ts'

export type Grant = Selectable<OauthGrantsTable> & { readonly workspaceId: string }

export async function insertGrant(
  trx: Trx,
  grant: Omit<Selectable<OauthGrantsTable>, keyof GrantChange>,
): Promise<void> {
  await trx.insertInto('oauthGrants').values(grant).execute()
}

/** Finds a grant by the digest of its code, or of the family of its refresh tokens, and locks it. */
export async function lockGrant(
  trx: Trx,
  column: 'codeSha256' | 'familySha256',
  sha256: Buffer,
): Promise<Grant | undefined> {
  return await trx
    .selectFrom('oauthGrants')
    .innerJoin('apiKeys', 'apiKeys.id', 'oauthGrants.keyId')
    .selectAll('oauthGrants')
    .select('apiKeys.workspaceId')
    .where(`oauthGrants.${column}`, '=', sha256)
    .forUpdate('oauthGrants')
    .executeTakeFirst()
}

/** The columns of a grant that change. They are null at first. */
export interface GrantChange {
  readonly codeUsedAt?: Date
  readonly familySha256?: Buffer
  readonly refreshSha256?: Buffer
  readonly formerSha256?: Buffer | null
  readonly renewedAt?: Date
  readonly recentAnswer?: Buffer
}

/** @throws DomainError `unavailable` while its workspace is about to be in another cell, which has the grant as it was */
export async function updateGrant(trx: Trx, keyId: string, change: GrantChange): Promise<void> {
  const { isSealed } = await trx
    .updateTable('oauthGrants')
    .set(change)
    .where('keyId', '=', keyId)
    .returning(isSealedOf('(select k.workspace_id from api_keys k where k.id = oauth_grants.key_id)'))
    .executeTakeFirstOrThrow()
  requireUnsealed(isSealed)
}

/** Id of the key of a grant, by the digest of the family of its refresh tokens. */
export async function findGrantOfFamily(db: Db, familySha256: Buffer) {
  return await db
    .selectFrom('oauthGrants')
    .innerJoin('apiKeys', 'apiKeys.id', 'oauthGrants.keyId')
    .select(['apiKeys.id', 'apiKeys.workspaceId', 'apiKeys.clientId'])
    .where('familySha256', '=', familySha256)
    .executeTakeFirst()
}

/** Filters digests of codes and of refresh tokens, present and former, to those of live grants. */
export async function findLiveDigests(
  db: Db,
  digests: { readonly codes: readonly Buffer[]; readonly tokens: readonly Buffer[] },
  now: Date,
): Promise<readonly Buffer[]> {
  const rows = await db
    .selectFrom('oauthGrants')
    .innerJoin('apiKeys', 'apiKeys.id', 'oauthGrants.keyId')
    .select(['codeSha256', 'refreshSha256', 'formerSha256'])
    .where('apiKeys.revokedAt', 'is', null)
    .where('apiKeys.expiresAt', '>', now)
    .where((where) =>
      where.or([
        where.and([where('codeSha256', 'in', anyOf(digests.codes)), where('codeUsedAt', 'is', null)]),
        where('refreshSha256', 'in', anyOf(digests.tokens)),
        where('formerSha256', 'in', anyOf(digests.tokens)),
      ]),
    )
    .execute()
  return rows.flatMap((row) =>
    [row.codeSha256, row.refreshSha256, row.formerSha256].filter((digest) => digest !== null),
  )
}

/** Filters digests of codes and of families to those of any grant. */
export async function findGrantDigests(db: Db, digests: readonly Buffer[]): Promise<readonly Buffer[]> {
  const rows = await db
    .selectFrom('oauthGrants')
    .select(['codeSha256', 'familySha256'])
    .where((where) => where.or([where('codeSha256', 'in', digests), where('familySha256', 'in', digests)]))
    .execute()
  return rows.flatMap(({ codeSha256, familySha256 }) =>
    familySha256 === null ? [codeSha256] : [codeSha256, familySha256],
  )
}

/** Filters digests of access tokens to those of any grant. */
export async function findTokenDigests(db: Db, digests: readonly Buffer[]): Promise<readonly Buffer[]> {
  const rows = await db
    .selectFrom('apiKeys')
    .select('sha256')
    .where('sha256', 'in', digests)
    .where('kind', '=', 'oauth')
    .execute()
  return rows.map(({ sha256 }) => sha256)
}

/** SQL's `in` takes no empty list; no digest is empty. */
const anyOf = (digests: readonly Buffer[]) => (digests.length === 0 ? [Buffer.alloc(0)] : [...digests])

/** An endpoint that a consent can be limited to. */
export interface ChoosableEndpoint {
  readonly id: string
  readonly name: string
}

const CHOICES_MAX = 1_000

/** The endpoints of a workspace by name, {@link CHOICES_MAX} at most. */
export async function listChoices(db: Db, workspaceId: string): Promise<readonly ChoosableEndpoint[]> {
  return await db
    .selectFrom('endpoints')
    .select(['id', 'name'])
    .where('workspaceId', '=', workspaceId)
    .where('deletedAt', 'is', null)
    .orderBy('name')
    .orderBy('id')
    .limit(CHOICES_MAX)
    .execute()
}
