import type { Db, Trx } from '../platform/db/index.ts'

/** Every key of the workspace, newest first, revoked ones included. */
export function listKeys(db: Db, workspaceId: string) {
  return db
    .selectFrom('apiKeys')
    .select(['id', 'name', 'prefix', 'createdAt', 'revokedAt', 'lastUsedAt'])
    .where('workspaceId', '=', workspaceId)
    .orderBy('createdAt', 'desc')
    .orderBy('id')
    .execute()
}

/** How many keys count against `apiKeysMax`. */
export async function countActiveKeys(db: Db, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('apiKeys')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('workspaceId', '=', workspaceId)
    .where('revokedAt', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

/** Adds one key; the plan's limit is not checked here. */
export async function insertKey(
  trx: Trx,
  row: { id: string; workspaceId: string; name: string; prefix: string; sha256: Buffer; createdAt: Date },
): Promise<void> {
  await trx.insertInto('apiKeys').values(row).execute()
}

/** Revokes the key; a revoked one keeps the time of the first revocation. */
export async function revoke(trx: Trx, keyId: string, revokedAt: Date): Promise<void> {
  await trx
    .updateTable('apiKeys')
    .set({ revokedAt })
    .where('id', '=', keyId)
    .where('revokedAt', 'is', null)
    .execute()
}
