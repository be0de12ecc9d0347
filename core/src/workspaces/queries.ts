import { randomBytes, randomUUID } from 'node:crypto'
import { DomainError } from '../api/errors.ts'
import type { PlanKey } from '../plans/index.ts'
import type { Db, Trx } from '../platform/db/index.ts'
import { type SecretBox, sealedTable } from '../platform/secrets/index.ts'

/** Every workspace, newest first. */
export function listWorkspaces(db: Db) {
  return db
    .selectFrom('workspaces')
    .select(['id', 'name', 'plan', 'createdAt'])
    .orderBy('createdAt', 'desc')
    .orderBy('id')
    .execute()
}

async function findWorkspace(db: Db, reference: string) {
  const rows = await db
    .selectFrom('workspaces')
    .select(['id', 'name', 'plan', 'createdAt'])
    // Compared as text, so that a reference that is no uuid simply does not match.
    .where((where) =>
      where.or([
        where(where.cast<string>('id', 'text'), '=', reference.toLowerCase()),
        where('name', '=', reference),
      ]),
    )
    .execute()
  return rows.find((row) => row.id === reference.toLowerCase()) ?? rows[0]
}

/**
 * Locks the workspace's row until the transaction ends, so that concurrent calls cannot exceed its plan. Rows that
 * reference the workspace are inserted meanwhile: their transactions may hold rows that this one is about to lock.
 */
export async function lockWorkspace(trx: Trx, workspaceId: string): Promise<void> {
  await trx.selectFrom('workspaces').select('id').where('id', '=', workspaceId).forNoKeyUpdate().execute()
}

/** Inserts the workspace; undefined when the name is taken. */
export function insertWorkspace(trx: Trx, row: { id: string; name: string; plan: PlanKey; createdAt: Date }) {
  return trx
    .insertInto('workspaces')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning(['id', 'name', 'plan', 'createdAt'])
    .executeTakeFirst()
}

export async function updateName(trx: Trx, workspaceId: string, name: string): Promise<void> {
  await trx.updateTable('workspaces').set({ name }).where('id', '=', workspaceId).execute()
}

export async function updatePlan(trx: Trx, workspaceId: string, plan: PlanKey): Promise<void> {
  await trx.updateTable('workspaces').set({ plan }).where('id', '=', workspaceId).execute()
}

/** Deletes workspaces, with their keys and contacts. The caller has purged their endpoints. */
export async function deleteWorkspaces(trx: Trx, workspaceIds: readonly string[]): Promise<void> {
  if (workspaceIds.length === 0) return
  await trx.deleteFrom('workspaces').where('id', 'in', workspaceIds).execute()
}

/**
 * Finds the workspace that an operator references by id or name; the id takes precedence.
 *
 * @throws DomainError `not_found`
 */
export async function getWorkspace(db: Db, reference: string) {
  const workspace = await findWorkspace(db, reference)
  if (workspace === undefined) {
    throw new DomainError('not_found', `There is no workspace with the id or name "${reference}".`)
  }
  return workspace
}

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
