import { randomUUID } from 'node:crypto'
import { DomainError, validationFailed } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { type Change, recordChange } from '../audit/index.ts'
import type { Db, Trx } from '../platform/db/index.ts'
import { getWorkspace } from '../workspaces/index.ts'

/**
 * Adds a contact, who gets alerts by mail.
 *
 * @throws DomainError `not_found`; `validation_failed` (`duplicate`) when the workspace has the address
 */
export async function addContact(
  services: Services,
  input: { workspace: string; email: string; name?: string | undefined },
) {
  const workspace = await getWorkspace(services.db, input.workspace)
  const row = {
    id: randomUUID(),
    workspaceId: workspace.id,
    email: input.email,
    name: input.name ?? null,
    createdAt: services.clock.now(),
  }
  const added = await services.db.transaction().execute(async (trx) => {
    const inserted = await insertContact(trx, row)
    if (inserted !== undefined) {
      await recordChange(
        trx,
        services,
        contactChange('contacts.add', workspace.id, { before: null, after: inserted }),
      )
    }
    return inserted
  })
  if (added === undefined) {
    const detail = `The workspace "${workspace.name}" already has the contact ${input.email}.`
    throw validationFailed([{ path: ['email'], code: 'duplicate', detail }])
  }
  return added
}

/**
 * Removes a contact by id or address. Watchdogs with this contact alert their remaining ones.
 *
 * @throws DomainError `not_found`
 */
export async function removeContact(services: Services, input: { workspace: string; contact: string }) {
  const workspace = await getWorkspace(services.db, input.workspace)
  const contact = (await listContacts(services.db, workspace.id)).find(
    ({ id, email }) => id === input.contact.toLowerCase() || email === input.contact,
  )
  if (contact === undefined) {
    throw new DomainError('not_found', `The workspace "${workspace.name}" has no contact "${input.contact}".`)
  }
  await services.db.transaction().execute(async (trx) => {
    await deleteContact(trx, contact.id)
    await recordChange(
      trx,
      services,
      contactChange('contacts.remove', workspace.id, { before: contact, after: null }),
    )
  })
  return contact
}

interface ContactRow {
  readonly id: string
  readonly email: string
}

function contactChange(
  action: string,
  workspaceId: string,
  { before, after }: { readonly before: ContactRow | null; readonly after: ContactRow | null },
): Change {
  const { id = '', email = '' } = after ?? before ?? {}
  return { action, workspaceId, subject: { type: 'contact', id, name: email }, before, after }
}

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
function insertContact(
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
async function deleteContact(trx: Trx, contactId: string): Promise<void> {
  await trx.deleteFrom('contacts').where('id', '=', contactId).execute()
}
