import type { Db, Trx } from '../platform/db/index.ts'

/** The workspace's contacts, newest first. */
export function listContacts(db: Db, workspaceId: string) {
  return db
    .selectFrom('contacts')
    .select(['id', 'email', 'name', 'createdAt'])
    .where('workspaceId', '=', workspaceId)
    .orderBy('createdAt', 'desc')
    .orderBy('id')
    .execute()
}

export async function findContactIds(db: Db, workspaceId: string): Promise<string[]> {
  const rows = await db.selectFrom('contacts').select('id').where('workspaceId', '=', workspaceId).execute()
  return rows.map((row) => row.id)
}

/** Inserts the contact; undefined if the workspace already has the address. */
export function insertContact(
  trx: Trx,
  row: { id: string; workspaceId: string; email: string; name: string | null; createdAt: Date },
) {
  return trx
    .insertInto('contacts')
    .values(row)
    .onConflict((conflict) => conflict.columns(['workspaceId', 'email']).doNothing())
    .returning(['id', 'email', 'name', 'createdAt'])
    .executeTakeFirst()
}

/** Deletes one row. A no-op when no contact has the id. */
export async function deleteContact(trx: Trx, contactId: string): Promise<void> {
  await trx.deleteFrom('contacts').where('id', '=', contactId).execute()
}
