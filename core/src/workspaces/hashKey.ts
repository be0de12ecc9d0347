import { randomBytes, randomUUID } from 'node:crypto'
import type { Db, Trx } from '../platform/db/index.ts'
import { type SecretBox, sealedTable } from '../platform/secrets/index.ts'

const KEY_BYTES = 32

export const SEALED_WORKSPACE_KEYS = sealedTable('workspaceKeys', ['hashKey'])

/** The key for hashes of a workspace, made if it has none. */
export async function ensureHashKey(
  db: Db | Trx,
  {
    workspaceId,
    secrets,
    now,
  }: { readonly workspaceId: string; readonly secrets: SecretBox; readonly now: Date },
): Promise<Buffer> {
  const hashKey = secrets.seal(randomBytes(KEY_BYTES).toString('base64'), workspaceId)
  await db
    .insertInto('workspaceKeys')
    .values({ id: randomUUID(), workspaceId, hashKey, createdAt: now })
    .onConflict((conflict) => conflict.column('workspaceId').doNothing())
    .execute()
  const key = await findHashKey(db, { workspaceId, secrets })
  if (key === undefined) throw new Error('The key that was just made is gone.')
  return key
}

/** The key for hashes of a workspace; undefined if it has none. */
export async function findHashKey(
  db: Db | Trx,
  { workspaceId, secrets }: { readonly workspaceId: string; readonly secrets: SecretBox },
): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('workspaceKeys')
    .where('workspaceId', '=', workspaceId)
    .select('hashKey')
    .executeTakeFirst()
  return row && openHashKey(secrets, workspaceId, row.hashKey)
}

export function openHashKey(secrets: Pick<SecretBox, 'open'>, workspaceId: string, hashKey: Buffer): Buffer {
  return Buffer.from(secrets.open(hashKey, workspaceId), 'base64')
}
